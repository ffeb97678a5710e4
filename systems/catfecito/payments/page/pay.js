// The page asks its provider for a signed event and sends it to the shop, as a provider's server would.
const form = document.querySelector("#pay");
const outcome = document.querySelector("#outcome");
const buttons = form.querySelectorAll("button");
const languages = {
  en: {
    note: "Test payment: no money is moved.", order: "Order", pay: "Pay", cancel: "Cancel", back: "Back to the shop",
    applied: "Paid. You can close this page.",
    refunded: "The order was not to be paid any more: the payment is refunded.",
    ignored: "Cancelled. The order is not paid.",
    failed: "The payment could not be made. Try again.",
  },
  es: {
    note: "Pago de prueba: no se mueve dinero.", order: "Pedido", pay: "Pagar", cancel: "Cancelar", back: "Volver a la tienda",
    applied: "Pagado. Puede cerrar esta página.",
    refunded: "El pedido ya no se podía pagar: el pago se devuelve.",
    ignored: "Cancelado. El pedido no está pagado.",
    failed: "No se pudo hacer el pago. Inténtelo de nuevo.",
  },
  pt: {
    note: "Pagamento de teste: nenhum dinheiro é movimentado.", order: "Pedido", pay: "Pagar", cancel: "Cancelar", back: "Voltar à loja",
    applied: "Pago. Você pode fechar esta página.",
    refunded: "O pedido não podia mais ser pago: o pagamento é devolvido.",
    ignored: "Cancelado. O pedido não está pago.",
    failed: "Não foi possível fazer o pagamento. Tente de novo.",
  },
};
const language = navigator.languages.map((l) => l.slice(0, 2)).find((l) => l in languages) ?? "en";
const words = languages[language];
document.documentElement.lang = language;
for (const element of document.querySelectorAll("[data-word]")) element.textContent = words[element.dataset.word];

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
    console.error(fault);
    outcome.textContent = words.failed;
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
