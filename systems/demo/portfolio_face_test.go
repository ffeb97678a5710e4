package demo

import (
	"testing"

	"github.com/monotable/monotable/web/webtest"
)

// TestBlog is a day in the life of a blog: an author writes, uploads a cover, previews and publishes; a reader visits the site,
// signs in, likes, bookmarks and comments; the author is notified and hides the comment; an administrator orders the categories.
func TestBlog(t *testing.T) {
	t.Parallel()
	r := serveAll(t, registered(), "--memory", "--sample", "1k")
	blog := r.web + "/portfolio/"
	p := webtest.Open(t, blog+"studio/#/write", webtest.Desk, webtest.Language("es-MX"), webtest.Expect("status of 409")) // a category that is in use

	// The author.
	signIn(p, "u-123")
	p.Wait("[name=title]")
	p.Type("[name=title]", "Caché: cuándo sí y cuándo no")
	p.Type("[name=excerpt]", "Tres preguntas antes de guardar nada.")
	p.Type("[name=body]", "## La primera\n\n¿Qué cuesta **volver a pedirlo**?")
	p.Until(`document.querySelector(".editor-preview h2 + p strong")?.textContent === "volver a pedirlo"`)
	p.Eval(picture)
	p.Wait(".field img.picture")
	p.Until(`document.querySelector(".editor-preview .post-picture")?.naturalWidth === 1200`)
	p.Accessible()
	p.Width()
	p.Shot("portfolio-editor")
	p.Eval(`document.querySelector("[name=body]").setSelectionRange(0, 0)`)
	p.Button("De tus imágenes")
	p.Until(`document.querySelectorAll("dialog[open] .gallery button").length === 2`) // the cover, and that of the sample
	p.Eval(`document.querySelectorAll("dialog[open] .gallery img").forEach((i) => { i.loading = "eager"; })`)
	p.Until(`[...document.querySelectorAll("dialog[open] .gallery img")].every((i) => i.naturalWidth > 0)`)
	p.Accessible()
	p.Shot("portfolio-gallery")
	p.Click("dialog[open] .gallery li:last-child button")
	p.Until(`document.activeElement?.name === "body" && document.activeElement.value.startsWith("![Lo que muestra la imagen](../images/")`)
	p.Until(`document.querySelector(".editor-preview .prose img")?.naturalWidth === 1600`)
	p.Button("Publicar")
	p.UntilText("Tu entrada ya está en el sitio")
	p.UntilText("Publicada")
	p.Eval(`localStorage.removeItem("access-token /portfolio/")`)

	// The reader.
	p.Go(blog)
	p.UntilText("Tres preguntas antes de guardar nada.")
	drawn(p)
	p.Accessible()
	p.Shot("portfolio-home")
	p.Button("Caché: cuándo sí y cuándo no")
	p.Wait(".comments-sign-in")
	p.Click(".comments-sign-in a")
	signIn(p, "u-124")
	p.Wait(".post-tools")
	p.Until(`location.pathname.includes("/p/cache-cuando-si-y-cuando-no-")`)
	p.Button("Me gusta")
	p.UntilText("1 me gusta")
	p.Button("Guardar")
	p.Until(`document.querySelector("[data-toggle=bookmark]:not(:disabled)[aria-pressed=true]") !== null`)
	p.Type("[name=body]", "Me quedo con la primera pregunta.")
	p.Button("Comentar")
	p.UntilText("Tu comentario ya está publicado.")
	p.Accessible()
	p.Width()
	p.Shot("portfolio-post")
	p.Go(blog + "#")
	p.Click(".post-card h2 a")
	p.Wait(".post-tools")
	p.Until(`document.querySelector("[data-toggle=like]")?.getAttribute("aria-pressed") === "true" && document.querySelectorAll(".comment").length === 1`)

	// The author again.
	p.Eval(`localStorage.removeItem("access-token /portfolio/")`)
	p.Go(blog + "studio/#/notifications")
	signIn(p, "u-123")
	p.Wait(".studio-post")
	p.UntilText("ha comentado")
	p.Accessible()
	p.Shot("portfolio-notifications")
	p.Button("Comentarios")
	p.UntilText("Me quedo con la primera pregunta.")
	p.Button("Ocultar")
	p.UntilText("Mostrar de nuevo")
	p.Accessible()
	p.Width()
	p.Shot("portfolio-comments")
	p.Go(blog + "studio/#/profile")
	p.Wait("[name=email]")
	p.Accessible()
	p.Shot("portfolio-profile")

	// The administrator.
	p.Eval(`localStorage.removeItem("access-token /portfolio/")`)
	p.Go(blog + "studio/?admin#/categories")
	p.Wait("#sign-in input[type=checkbox]")
	p.Click("#sign-in input[type=checkbox]")
	signIn(p, "u-1")
	p.UntilText("/c/go")
	p.Click(`[aria-label="Bajar Go"]`)
	p.Until(`document.querySelectorAll(".studio-post b")[1]?.textContent === "Go"`)
	p.Click(`[aria-label="Eliminar Redes"]`)
	p.Click("dialog[open] .button.danger")
	p.UntilText("La categoría tiene entradas")
	p.Accessible()
	p.Width()
	p.Shot("portfolio-categories")
	p.Go(blog)
	p.Until(`document.querySelectorAll(".site-categories a")[2]?.textContent === "Go"`)

	for _, look := range [][]webtest.Option{{webtest.Phone, webtest.Dark}, {webtest.Tablet}} {
		p := webtest.Open(t, blog, append(look, webtest.Language("es-MX"))...)
		drawn(p)
		p.Accessible()
		p.Width()
		p.Shot("portfolio-home")
		p.Eval(`document.querySelectorAll(".post-card h2 a")[1].click()`)
		p.Wait(".prose")
		drawn(p)
		p.Accessible()
		p.Width()
		p.Shot("portfolio-post")
		p.Go(blog + "studio/#/write")
		signIn(p, "u-123")
		p.Wait("[name=body]")
		p.Accessible()
		p.Width()
		p.Shot("portfolio-editor")
		p.Button("De tus imágenes")
		p.Wait("dialog[open] .gallery")
		p.Until(`[...document.querySelectorAll("dialog[open] .gallery img")].every((i) => i.naturalWidth > 0)`)
		p.Accessible()
		p.Width()
		p.Shot("portfolio-gallery")
		p.Go(blog + "studio/#/comments")
		p.Wait(".remark")
		p.Accessible()
		p.Width()
		p.Shot("portfolio-comments")
	}
}

// picture selects a file as the post's cover, because the test cannot operate the file dialog.
const picture = `(() => {
  const canvas = document.createElement("canvas");
  canvas.width = 1200; canvas.height = 600;
  const c = canvas.getContext("2d");
  c.fillStyle = "#27476e"; c.fillRect(0, 0, 1200, 600);
  c.fillStyle = "#e3b64f"; c.beginPath(); c.arc(600, 300, 180, 0, 7); c.fill();
  canvas.toBlob((blob) => {
    const files = new DataTransfer();
    files.items.add(new File([blob], "portada.png", { type: "image/png" }));
    const input = document.querySelector("[role=group] input[type=file]");
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
})()`

// drawn waits until all pictures have loaded, even those outside the window.
func drawn(p *webtest.Page) {
	p.Eval(`document.querySelectorAll("img").forEach((i) => { i.loading = "eager"; })`)
	p.Until(`[...document.images].every((i) => i.complete && i.naturalWidth > 0)`)
}

// signIn signs in as a user if the page asks for it.
func signIn(p *webtest.Page, user string) {
	p.Wait("#sign-in input")
	p.Eval(`document.querySelector("#sign-in input").select()`)
	p.Type("#sign-in input", user)
	p.Click("[form=sign-in]")
}
