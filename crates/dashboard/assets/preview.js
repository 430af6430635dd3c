// The preview of a status page follows what a person writes. Without scripts, a button loads it.
(() => {
  "use strict";
  // Milliseconds without a key before the preview is loaded.
  const PAUSE = 300;
  const TEXTS = ["title", "description", "homepage_url", "contact_url"];
  let timer;

  const show = (form) => {
    const frame = document.querySelector("iframe[data-preview]");
    if (!frame) return;
    const query = new URLSearchParams();
    for (const name of TEXTS) {
      const field = form.elements[name];
      if (field) query.set(name, field.value);
    }
    // No entry in the history for each text.
    frame.contentWindow.location.replace(`${frame.getAttribute("src")}?${query}`);
  };

  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-previews]");
    if (!form || !TEXTS.includes(event.target.name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => show(form), PAUSE);
  });
})();
