package portfolio

import "strings"

// sampleText is what a post of the sample says.
type sampleText struct{ title, excerpt, body string }

// sampleTexts are of the subjects in their order, and again from the first.
func sampleTexts() []sampleText {
	return []sampleText{
		{
			"Un servidor HTTP que sabe terminar", "Cerrar bien es parte de servir: qué pasa con las peticiones que están a medias cuando llega la señal.",
			"Cuando el despliegue manda `SIGTERM`, el proceso tiene unos segundos para irse. Lo que haga en ese rato decide si alguien ve un error.\n\n" +
				"## Qué debe pasar\n\n1. El servidor deja de aceptar conexiones nuevas.\n2. Las peticiones que ya entraron terminan.\n3. Lo que tarda demasiado se corta, y queda escrito en el registro.\n\n" +
				"La biblioteca estándar trae casi todo:\n\n```go\nctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)\ndefer stop()\n\ngo server.ListenAndServe()\n<-ctx.Done()\n\nlimit, cancel := context.WithTimeout(context.Background(), 20*time.Second)\ndefer cancel()\nif err := server.Shutdown(limit); err != nil {\n\tslog.Error(\"peticiones cortadas\", \"error\", err)\n}\n```\n\n" +
				"> Un límite sin registro es un error que nadie va a encontrar.\n\nLo que `Shutdown` no conoce son las conexiones largas: los eventos del servidor y los WebSockets. A esos hay que avisarles aparte, y el cliente tiene que saber volver.",
		},
		{
			"Las claves se diseñan al revés", "Primero las preguntas, después las claves. Cómo llegar a una sola tabla sin adivinar.",
			"En una base de datos relacional se empieza por los datos. Con una sola tabla se empieza por las preguntas: qué se lee, con qué frecuencia y en qué orden.\n\n" +
				"## Una lista antes que un esquema\n\n| Pregunta | Frecuencia | Orden |\n|---|---|---|\n| Entradas publicadas | 20 por segundo | las nuevas primero |\n| Comentarios de una entrada | 10 por segundo | como se escribieron |\n| Lo que guarda un lector | 2 por segundo | lo último primero |\n\n" +
				"Con la lista delante, cada clave sale casi sola. La partición es lo que la pregunta **sabe**; la clave de orden, lo que la pregunta **quiere**.\n\n```\nPK = POST#01KDZ2…   SK = COMMENT#01KDZ5…\n```\n\nSi una pregunta no encaja, no se añade un filtro: se añade una copia, y se escribe en la misma transacción.",
		},
		{
			"La factura que bajó a la mitad sin tocar el código", "Tres líneas de configuración y una tarde leyendo la consola de costos.",
			"Nadie había mirado la factura desde marzo. No era alta, pero tampoco tenía por qué ser esa.\n\n## Lo que encontramos\n\n- Registros guardados **para siempre**. Treinta días bastan.\n- Dos entornos de prueba encendidos los fines de semana.\n- Un índice que ninguna consulta usaba desde hacía un año.\n\n" +
				"Lo más caro no era lo que usábamos, sino lo que habíamos olvidado apagar. Desde entonces cada recurso lleva una etiqueta con su dueño, y el día primero llega un resumen al equipo.\n\n> Lo que no tiene dueño no se apaga nunca.",
		},
		{
			"Una prueba que no puede fallar no prueba nada", "Antes de confiar en una prueba, rómpela a propósito.",
			"Hay una manera rápida de saber si una prueba sirve: quita la línea que protege. Si sigue en verde, sobra la prueba o sobra la línea.\n\n## Tres síntomas\n\n1. La prueba repite la implementación con otras palabras.\n2. Solo comprueba que no hubo error.\n3. El valor esperado se copió de la salida.\n\n" +
				"```go\nif got := Total(lines); got != 1250 {\n\tt.Errorf(\"total %d, quiero 1250\", got)\n}\n```\n\nEl número de arriba lo calculó una persona, con papel. Esa es toda la diferencia.",
		},
		{
			"Contraseñas: lo que conviene hacer en 2026", "Frases largas, nada de caducidades y una lista de las que ya se filtraron.",
			"Obligar a cambiar la contraseña cada noventa días produce `Primavera2026!`. Las guías dejaron de pedirlo hace años.\n\n## Lo que sí ayuda\n\n- Un mínimo de doce caracteres, sin reglas de mayúsculas.\n- Rechazar las que aparecen en filtraciones conocidas.\n- **Argon2id**, con parámetros medidos en tu propia máquina.\n- Un límite de intentos por cuenta y por dirección.\n\nY si puedes, llaves de acceso: la mejor contraseña es la que no existe.",
		},
		{
			"Qué ocurre entre tu dedo y el primer byte", "DNS, TCP, TLS y por fin HTTP: un viaje de 80 milisegundos contado despacio.",
			"Antes de que el servidor lea la primera línea, ya hubo media docena de mensajes.\n\n## El viaje\n\n1. **DNS** pregunta dónde vive el nombre.\n2. **TCP** abre la conexión: una ida y vuelta.\n3. **TLS 1.3** acuerda las claves: otra más.\n4. **HTTP** pide, por fin, la página.\n\nCon QUIC los pasos dos y tres son uno. En la fibra de casa no se nota; en el tren, muchísimo.\n\n```\ncurl -so /dev/null -w '%{time_connect} %{time_appconnect} %{time_starttransfer}\\n' https://example.com\n```",
		},
		{
			"El botón que nadie encontraba", "Cinco personas, una tarde y un cambio de una palabra.",
			"El botón decía *Procesar*. Lo pusimos grande, lo pusimos azul, lo pusimos dos veces. Nada.\n\nUna tarde nos sentamos con cinco personas que usan el sistema a diario. La tercera dijo: «Ah, ¿procesar es *enviar*?».\n\n## Lo que aprendimos\n\n- El verbo es de quien usa, no de quien programa.\n- Cinco personas bastan para encontrar lo grave.\n- Callarse durante la prueba es la parte difícil.\n\n> Si hay que explicarlo, todavía no está terminado.",
		},
		{
			"Decir «no sé» a tiempo", "La frase que más tardé en aprender y la que más trabajo me ha ahorrado.",
			"En mi primer empleo tardé tres días en admitir que no entendía un error. La respuesta la tenía la persona de al lado, y duró cuatro minutos.\n\n## Cómo lo digo ahora\n\nNo digo solo «no sé». Digo **qué** no sé, **qué** probé y **cuándo** vuelvo a preguntar. Con eso, quien ayuda puede empezar por la mitad.\n\nA quien dirige un equipo le toca decirlo primero. Después, los demás se atreven.",
		},
		{
			"Tres libros para releer cada año", "Ninguno es nuevo, y ninguno habla de una tecnología concreta.",
			"Hay libros que se leen una vez y otros que cambian contigo.\n\n## La lista\n\n1. *The Mythical Man-Month*, por el capítulo de la comunicación.\n2. *A Philosophy of Software Design*, por los módulos profundos.\n3. *The Design of Everyday Things*, por las puertas.\n\nCada enero releo uno. Siempre hay un párrafo que antes no había visto, o que antes no me había pasado.",
		},
		{
			"La computadora que cabía en un edificio", "ENIAC, las seis programadoras y una foto sin pies de página.",
			"Durante cuarenta años la foto circuló sin nombres. Se dijo que eran modelos. Eran quienes programaban la máquina.\n\nKay McNulty, Betty Jennings, Betty Snyder, Marlyn Wescoff, Fran Bilas y Ruth Lichterman aprendieron la ENIAC de sus diagramas, porque no había manual.\n\n## Por qué importa\n\nUn sistema también es quién lo hizo funcionar. Escribe los nombres: en el registro de cambios, en la documentación, en el pie de la foto.",
		},
		{
			"Contextos en Go: a quién pertenece la cancelación", "Pasar un contexto es fácil. Saber cuándo no pasarlo es lo que evita trabajos a medias.",
			"La regla cabe en una línea: el contexto es de quien espera la respuesta. Si nadie la espera, el trabajo necesita uno propio.\n\n## El caso típico\n\nUna petición termina y dispara un correo. Con el contexto de la petición, el correo se cancela cuando el cliente cierra la pestaña.\n\n```go\nctx = context.WithoutCancel(ctx)\nctx, cancel := context.WithTimeout(ctx, time.Minute)\n```\n\nAsí conserva sus valores, pero no su final. Y con un límite, que es lo que se olvida.",
		},
		{
			"Paginar sin saltarse nada", "Por qué OFFSET pierde filas y un cursor no.",
			"Alguien publica mientras lees la página dos. Con `OFFSET 20`, la entrada número veinte aparece otra vez. Si alguien borra, una desaparece.\n\n## El cursor\n\nUn cursor dice **dónde** ibas, no **cuántas** llevabas:\n\n```sql\nSELECT … WHERE (creado, id) < ($1, $2)\nORDER BY creado DESC, id DESC LIMIT 20\n```\n\nEl `id` al final no es adorno: dos entradas pueden tener la misma hora.",
		},
		{
			"Colas, y lo que pasa cuando no se vacían", "Un mensaje que falla siempre puede detener a todos los demás. O no.",
			"Un lote llega, el tercer mensaje falla, el lote vuelve. Otra vez. Y otra. Detrás esperan diez mil.\n\n## Salidas\n\n- Partir el lote por la mitad hasta encontrar el culpable.\n- Guardarlo aparte, con **dónde** estaba y **por qué** falló.\n- Avisar a alguien. Una cola de errores sin alarma es un cajón.\n\nY lo importante: que procesar dos veces el mismo mensaje no cambie nada.",
		},
		{
			"Relojes falsos para pruebas de verdad", "Cómo probar «treinta días después» en dos milisegundos.",
			"Una prueba que duerme es lenta y, además, falla los lunes.\n\n## El tiempo, como dato\n\nPasa el reloj como cualquier otra dependencia:\n\n```go\ntype Service struct { now func() time.Time }\n```\n\nEn la prueba, el reloj avanza cuando tú lo dices. El día del cambio de horario deja de ser una sorpresa y pasa a ser un caso.",
		},
		{
			"El token que no caducaba", "Historia de un permiso que sobrevivió a tres equipos.",
			"Lo encontramos en un guion de 2019. Seguía funcionando. Tenía permiso para todo.\n\n## Desde entonces\n\n1. Cada token caduca, y renovarlo es automático.\n2. Los permisos son los que usa, no los que podría usar.\n3. Quitar un permiso tiene efecto **en el acto**.\n\nLa pregunta útil no es quién tiene acceso. Es quién lo **usó** este mes.",
		},
		{
			"IPv6 en casa, por fin", "Una tarde, un router viejo y la sorpresa de que casi todo funciona.",
			"Llevaba años diciendo que lo haría. Resulta que el proveedor ya lo daba; el apagado era mi router.\n\n## Lo que cambió\n\n- Cada equipo tiene su propia dirección, y el cortafuegos vuelve a ser la frontera.\n- Los juegos en línea dejaron de pedir puertos abiertos.\n- Dos aparatos viejos siguen en IPv4, y no pasa nada.\n\nSi dudas, mira tu teléfono: es probable que ya lleve años en IPv6.",
		},
		{
			"Formularios que perdonan", "Acepta el teléfono con espacios. Acepta el nombre con acentos. Acepta que la gente se equivoca.",
			"«El teléfono solo puede contener números». Entonces quítale los espacios tú.\n\n## Pequeñas cortesías\n\n- El error, junto al campo, y en palabras.\n- Lo escrito **no se pierde** nunca.\n- Un nombre puede tener una letra, o seis palabras.\n- Repetir el envío no crea dos pedidos.\n\nUn formulario es una conversación. Nadie quiere hablar con quien interrumpe.",
		},
		{
			"Mi primer año dirigiendo un equipo", "Escribí menos código, y lo que más ayudó fue una lista de tres preguntas.",
			"Creí que mi trabajo era saber las respuestas. Resultó ser que las preguntas llegaran a tiempo.\n\n## Cada semana, a cada persona\n\n1. ¿Qué te está frenando?\n2. ¿Qué harías distinto?\n3. ¿Qué no te he contado y debería?\n\nLa tercera es la que más cambió las cosas.",
		},
		{
			"Leer código ajeno sin perderse", "Empieza por las pruebas, sigue por los nombres y deja el detalle para el final.",
			"Un proyecto nuevo es una ciudad sin mapa. No empieces por las calles pequeñas.\n\n## Un orden que funciona\n\n- Las **pruebas** dicen qué promete.\n- Los **tipos** dicen de qué habla.\n- El **historial** dice qué dolió.\n\nY escribe lo que entiendes mientras lees. En una semana ya no recordarás que no lo sabías.",
		},
		{
			"Breve historia del cursor que parpadea", "Una patente de 1970, medio segundo encendido y medio apagado.",
			"Charles Kiesling lo patentó en 1970. Antes, para saber dónde ibas a escribir, había que adivinar.\n\nMedio segundo encendido, medio apagado: lo bastante lento para no molestar y lo bastante rápido para encontrarlo. Cincuenta años después nadie ha encontrado un ritmo mejor.\n\n> El mejor detalle es el que todos usan y nadie menciona.",
		},
	}
}

// sampleRemarks are what readers say.
func sampleRemarks() []string {
	return []string{
		"Muy claro, gracias. Lo comparto con mi equipo.", "Nos pasó exactamente lo mismo el mes pasado.", "¿Tienes algún ejemplo más largo?",
		"No estoy del todo de acuerdo con el segundo punto, pero el argumento es bueno.", "Lo probé esta mañana y funcionó a la primera.",
		"Llevaba años haciéndolo mal. Gracias.", "¿Y qué pasa cuando hay dos procesos a la vez?", "El último párrafo vale por todo el artículo.",
		"Añadiría una cosa: mídelo antes de cambiarlo.", "Guardado para releerlo con calma.",
	}
}

// sampleBody is the text of a post of a block; that of a second part is shorter and refers to the first.
func sampleBody(block int, second bool) string {
	texts := sampleTexts()
	text := texts[block%len(texts)]
	if !second {
		return text.body
	}
	return strings.Join([]string{
		"Varias personas preguntaron por *" + text.title + "*. Aquí van las respuestas, en el orden en que llegaron las preguntas.",
		"## ¿Cuánto tiempo llevó?", "Una semana para hacerlo y un mes para confiar en ello:\n\n- Lo medimos antes y después.\n- Quitamos lo que no ayudaba.\n- Escribimos lo que aprendimos.",
		"## ¿Qué harías distinto?", "Empezar antes y con menos. La primera versión tenía tres piezas de más, y ninguna se echó de menos al quitarla.",
	}, "\n\n")
}
