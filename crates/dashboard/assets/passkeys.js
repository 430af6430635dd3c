// Passkeys: lets the browser answer the server's options, and posts the answer.
(() => {
  "use strict";
  const post = (path, fields) => fetch(path, { method: "POST", body: new URLSearchParams(fields) });

  const answer = async (form) => {
    const { passkey, options, answer } = form.dataset;
    const asked = await post(options, {});
    if (!asked.ok) throw new Error(await asked.text());
    const credential =
      passkey === "create"
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(await publicKey(asked)) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(await publicKey(asked)) });
    const given = Object.fromEntries(new FormData(form));
    const done = await post(answer, { ...given, credential: JSON.stringify(credential.toJSON()) });
    const text = await done.text();
    if (!done.ok) throw new Error(text);
    location.assign(text);
  };

  const publicKey = async (response) => {
    const options = await response.json();
    return options.publicKey ?? options;
  };

  const start = (form) => {
    const wrong = form.querySelector("[role=alert]");
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      wrong.hidden = true;
      answer(form).catch((error) => {
        // The person closed the browser's window.
        const text = error.name === "NotAllowedError" ? "No passkey was chosen." : error.message;
        wrong.textContent = text;
        wrong.hidden = false;
      });
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return;
    document.querySelectorAll("form[data-passkey]").forEach(start);
  });
})();
