// Progressive enhancement only: every page works without this file.
// Loaded in <head> without defer, so that a remembered theme is set before the first paint.
(function () {
  "use strict";

  const root = document.documentElement;
  const THEMES = ["auto", "light", "dark"];
  const KEY = "aml-theme";

  function remembered() {
    try {
      const value = localStorage.getItem(KEY);
      return THEMES.includes(value) ? value : "auto";
    } catch {
      return "auto"; // storage is refused in some private windows
    }
  }

  function applyTheme(theme) {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  }

  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then lasts for this page only.
    }
  }

  function labelSwitch(button, theme) {
    const word = button.getAttribute("data-label-" + theme);
    button.querySelector("[data-theme-word]").textContent = word;
    button.setAttribute("data-theme-now", theme);
  }

  function wireSwitch(button) {
    labelSwitch(button, remembered());
    button.addEventListener("click", function () {
      const now = button.getAttribute("data-theme-now");
      const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
      applyTheme(next);
      remember(next);
      labelSwitch(button, next);
    });
  }

  // "2 Dec 2026, 14:05 UTC" gets " (22:05 your time)", with the date where the day differs.
  function addLocalTime(element) {
    const when = new Date(element.getAttribute("datetime"));
    if (Number.isNaN(when.getTime()) || when.getTimezoneOffset() === 0) return;
    const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
    if (when.getDate() !== when.getUTCDate()) Object.assign(options, { day: "numeric", month: "short" });
    const local = new Intl.DateTimeFormat(root.lang || undefined, options).format(when);
    const note = document.createElement("span");
    note.className = "soft";
    note.textContent = " (" + (root.dataset.yourTime || "%s").replace("%s", local) + ")";
    element.append(note);
  }

  async function copy(button) {
    const source = document.getElementById(button.getAttribute("data-copy"));
    if (!source) return;
    const word = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = button.getAttribute("data-copied");
    } catch {
      // No clipboard (plain http): select the text, so that one key press copies it.
      getSelection().selectAllChildren(source);
      button.textContent = button.getAttribute("data-selected");
    }
    setTimeout(() => { button.textContent = word; }, 2000);
  }

  // Asks before leaving a form whose values were changed and not sent.
  function guard(form) {
    let changed = false;
    form.addEventListener("input", () => { changed = true; });
    form.addEventListener("submit", () => { changed = false; });
    addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
  }

  function once(scope, selector, action) {
    const found = [...scope.querySelectorAll(selector)];
    if (scope.matches && scope.matches(selector)) found.push(scope);
    for (const element of found) {
      if (element.hasAttribute("data-wired")) continue;
      element.setAttribute("data-wired", "");
      action(element);
    }
  }

  function wire(scope) {
    once(scope, "[data-theme-switch]", wireSwitch);
    once(scope, "time[data-local]", addLocalTime);
    once(scope, "button[data-copy]", (button) => button.addEventListener("click", () => copy(button)));
    once(scope, "form[data-guard]", guard);
  }

  root.classList.add("js");
  applyTheme(remembered());
  document.addEventListener("DOMContentLoaded", function () {
    wire(document);
    const summary = document.querySelector(".error-summary");
    if (summary) summary.focus();
  });
  document.addEventListener("htmx:load", (event) => wire(event.target));
})();
