// Starts Swagger UI on the gateway's own description. In a file of its own, because the page's policy allows no script inside the page.
const base = new URL(".", document.currentScript.src).pathname.replace(/\/docs\/$/, "");
window.addEventListener("DOMContentLoaded", () => {
  SwaggerUIBundle({ url: `${base}/openapi.json`, dom_id: "#docs", deepLinking: true, validatorUrl: null });
});
