"use strict";
// Hands the token to the API pages of this origin, and copies it.
const token = document.getElementById("token").textContent.trim();
localStorage.setItem("access-token", token);
document.querySelector("[data-copy=token]").addEventListener("click", (event) => {
  navigator.clipboard.writeText(token).then(() => { event.target.textContent = "Copied"; });
});
