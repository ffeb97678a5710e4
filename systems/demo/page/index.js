"use strict";
// Hands each system's token to its API page, which is of this origin, and copies it.
for (const shown of document.querySelectorAll(".token")) {
  const token = shown.textContent.trim();
  localStorage.setItem("access-token /" + shown.dataset.system + "/", token);
  shown.parentNode.querySelector("button").addEventListener("click", (event) => {
    navigator.clipboard.writeText(token).then(() => { event.target.textContent = "Copied"; });
  });
}
