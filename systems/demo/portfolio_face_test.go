package demo

import (
	"testing"

	"github.com/monotable/monotable/web/webtest"
)

// TestBlog is a day of a blog: an author writes, looks at what it will be, and publishes; a reader comes from the site, signs
// in, likes, keeps and comments; the author is told of it.
func TestBlog(t *testing.T) {
	t.Parallel()
	r := serveAll(t, registered(), "--memory", "--sample", "1k")
	blog := r.web + "/portfolio/"
	p := webtest.Open(t, blog+"studio/#/write", webtest.Desk, webtest.Language("es-MX"))

	// The author.
	signIn(p, "u-123")
	p.Wait("[name=title]")
	p.Type("[name=title]", "Caché: cuándo sí y cuándo no")
	p.Type("[name=excerpt]", "Tres preguntas antes de guardar nada.")
	p.Type("[name=body]", "## La primera\n\n¿Qué cuesta **volver a pedirlo**?")
	p.Until(`document.querySelector(".editor-preview h2 + p strong")?.textContent === "volver a pedirlo"`)
	p.Accessible()
	p.Width()
	p.Shot("portfolio-editor")
	p.Button("Publicar")
	p.UntilText("Tu entrada ya está en el sitio")
	p.UntilText("Publicada")
	p.Eval(`localStorage.removeItem("access-token /portfolio/")`)

	// The reader.
	p.Go(blog)
	p.UntilText("Tres preguntas antes de guardar nada.")
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

	for _, look := range [][]webtest.Option{{webtest.Phone, webtest.Dark}, {webtest.Tablet}} {
		p := webtest.Open(t, blog, append(look, webtest.Language("es-MX"))...)
		p.Accessible()
		p.Width()
		p.Shot("portfolio-home")
		p.Eval(`document.querySelectorAll(".post-card h2 a")[1].click()`)
		p.Wait(".prose")
		p.Accessible()
		p.Width()
		p.Shot("portfolio-post")
		p.Go(blog + "studio/#/write")
		signIn(p, "u-123")
		p.Wait("[name=body]")
		p.Accessible()
		p.Width()
		p.Shot("portfolio-editor")
	}
	r.end(t)
}

// signIn signs in as a user where the page asks for it.
func signIn(p *webtest.Page, user string) {
	p.Wait("#sign-in input")
	p.Eval(`document.querySelector("#sign-in input").select()`)
	p.Type("#sign-in input", user)
	p.Click("[form=sign-in]")
}
