// The terminal itself is textual.js. This gives it the keyboard once it shows something, and opens the page anew once
// its console has ended.
const terminal = () => document.querySelector(".xterm-helper-textarea");
const turned = new MutationObserver(() => terminal()?.focus());
turned.observe(document.body, { attributes: true, attributeFilter: ["class"] });
document.getElementById("again").addEventListener("click", () => window.location.reload());
