// The page asks its provider for a signed event and sends it to the shop, as a provider's server would.
const form = document.querySelector("#pay");
const outcome = document.querySelector("#outcome");
const buttons = form.querySelectorAll("button");
const words = {
  applied: "Paid. You can close this page.",
  refunded: "The order was not to be paid any more: the payment is refunded.",
  ignored: "Cancelled. The order is not paid.",
};

form.addEventListener("submit", async (submitted) => {
  submitted.preventDefault();
  const data = new URLSearchParams(new FormData(form, submitted.submitter));
  enable(false);
  try {
    const event = await answered(await fetch("event", { method: "POST", body: data }));
    const told = await answered(
      await fetch("../payments/events", {
        method: "POST",
        headers: { ...event.headers, "Content-Type": "application/json" },
        body: event.body,
      }),
    );
    outcome.textContent = words[told.outcome] ?? told.outcome;
    document.querySelector("#back").hidden = false;
  } catch (fault) {
    outcome.textContent = `${fault.message} Try again.`;
    enable(true);
  }
});

enable(true); // only now: the browser itself must not send the form

function enable(enabled) {
  buttons.forEach((button) => (button.disabled = !enabled));
}

async function answered(response) {
  if (!response.ok) throw new Error(`The shop answered ${response.status}.`);
  return response.json();
}
