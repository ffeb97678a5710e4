package cli

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
)

// fromEnvironment marks flags that were set by a MONOTABLE_ variable.
const fromEnvironment = "monotable_environment"

// variable is the name of the environment variable for a flag.
func variable(flag *pflag.Flag) string {
	return "MONOTABLE_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

const (
	// exclusive marks flags that cannot be combined with others; its values are names, separated by spaces, and a reason.
	exclusive = "monotable_exclusive"
	// together marks flags that need another flag; its values are the names of those.
	together = "monotable_together"
)

// excludeFlags declares that at most one of the flags can be set; reason, which may be "", says why. On the command line, one of
// them overrides the environment variables of the others. Cobra's groups do not do that.
func excludeFlags(flags *pflag.FlagSet, reason string, names ...string) {
	for _, name := range names {
		annotate(flags, name, exclusive, strings.Join(names, " ")+"\n"+reason)
	}
}

// requireTogether declares that a flag needs the other, and the reverse.
func requireTogether(flags *pflag.FlagSet, one, other string) {
	requireFor(flags, other, one)
	requireFor(flags, one, other)
}

// requireFor declares that each of the flags needs the other.
func requireFor(flags *pflag.FlagSet, other string, names ...string) {
	for _, name := range names {
		annotate(flags, name, together, other)
	}
}

func annotate(flags *pflag.FlagSet, name, key, value string) {
	flag := flags.Lookup(name)
	if flag == nil {
		panic("there is no flag --" + name)
	}
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[key] = append(flag.Annotations[key], value)
}

// isSet reports whether a flag has been set to something other than "off".
func isSet(flag *pflag.Flag) bool {
	return flag.Changed && (flag.Value.Type() != "bool" || flag.Value.String() == "true")
}

// contradiction says which flag that is set excludes this one, and why; "" if there is none.
func contradiction(flags *pflag.FlagSet, flag *pflag.Flag) string {
	for _, group := range flag.Annotations[exclusive] {
		text, reason, _ := strings.Cut(group, "\n")
		if reason != "" {
			reason = ": " + reason
		}
		names := strings.Fields(text)
		own := slices.Index(names, flag.Name)
		for i, name := range names {
			if i != own && isSet(flags.Lookup(name)) {
				return fmt.Sprintf("--%s and --%s cannot be combined%s", names[min(i, own)], names[max(i, own)], reason)
			}
		}
	}
	return ""
}

// PrepareFlags sets the flags that are not on the command line from the environment, and checks which of them can be combined and
// which are missing.
func PrepareFlags(cmd *cobra.Command, getenv func(string) string) error {
	flags := cmd.Flags()
	if err := flagsFromEnvironment(flags, getenv); err != nil {
		return err
	}
	var faults []error
	seen := map[string]bool{}
	flags.VisitAll(func(flag *pflag.Flag) {
		if _, required := flag.Annotations[cobra.BashCompOneRequiredFlag]; required && !flag.Changed {
			faults = append(faults, misused(cmd, "missing --"+flag.Name+": "+plainUsage(flag)))
		}
		if !isSet(flag) {
			return
		}
		if text := contradiction(flags, flag); text != "" && !seen[text] {
			seen[text] = true
			faults = append(faults, errors.New(text))
		}
		for _, name := range flag.Annotations[together] {
			if other := flags.Lookup(name); (!other.Changed || other.Value.String() == "") && flag.Value.String() != "" {
				faults = append(faults, fmt.Errorf("--%s needs --%s: %s", flag.Name, name, plainUsage(other)))
			}
		}
	})
	return errors.Join(faults...)
}

// plainUsage is the description of a flag without marks.
func plainUsage(flag *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(flag)
	return usage
}

// misused is the error of a command line that lacks something or has too much.
func misused(cmd *cobra.Command, what string) error {
	return fmt.Errorf("%s (usage: %s)", what, cmd.UseLine())
}

// ExplainArguments makes the errors about missing and unexpected arguments of a command and all its subcommands name these.
func ExplainArguments(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		ExplainArguments(sub)
	}
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		wanted, most := positional(cmd.Use)
		switch {
		case len(args) < len(wanted):
			return misused(cmd, "missing "+strings.Join(wanted[len(args):], " and "))
		case most < len(args):
			return misused(cmd, fmt.Sprintf("unexpected argument %q", args[most]))
		}
		return err
	}
}

// positional returns the names of the required arguments in a command's usage, and how many arguments it names altogether.
func positional(use string) (required []string, most int) {
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(strings.TrimPrefix(word, "["), "-") {
			break
		}
		most++
		if !strings.HasPrefix(word, "[") {
			required = append(required, strings.TrimSuffix(word, "..."))
		}
	}
	return required, most
}

// flagsFromEnvironment sets the flags that are not on the command line, nor contradicted by it, from MONOTABLE_ variables.
func flagsFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var faults []error
	overridden := map[string]bool{}
	flags.VisitAll(func(flag *pflag.Flag) {
		overridden[flag.Name] = flag.Changed || contradiction(flags, flag) != ""
	})
	flags.VisitAll(func(flag *pflag.Flag) {
		if overridden[flag.Name] || flag.Name == "help" {
			return
		}
		name := variable(flag)
		value := getenv(name)
		if value == "" {
			return
		}
		if err := flags.Set(flag.Name, value); err != nil {
			faults = append(faults, flagFault(name, err))
			return
		}
		if err := flags.SetAnnotation(flag.Name, fromEnvironment, []string{name}); err != nil {
			faults = append(faults, err)
		}
	})
	return errors.Join(faults...)
}

// flagFault is the error message for a value that a flag cannot parse, with a valid example. The value was given in
// the variable name, or on the command line if name is "".
func flagFault(name string, err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	if name == "" {
		name = "--" + invalid.GetFlag().Name
	}
	switch value := invalid.GetFlag().Value; value.Type() {
	case "duration":
		return fmt.Errorf("%s %q: want a duration with a unit, like 500ms, 5s or 1h", name, invalid.GetValue())
	case "int", "int64", "uint", "uint64":
		return fmt.Errorf("%s %q: want a whole number like %s", name, invalid.GetValue(), invalid.GetFlag().DefValue)
	case "float64":
		return fmt.Errorf("%s %q: want a number", name, invalid.GetValue())
	case "bool":
		return fmt.Errorf("%s %q: want true or false", name, invalid.GetValue())
	default:
		return fmt.Errorf("%s: %w", name, invalid.Unwrap())
	}
}

// flagName matches the flags in a message. Most commands have none to print and need not compile it.
var flagName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--[a-z][a-z0-9-]*`) })

// Message is the text of a command's error. Flags that were set by environment variables are called by the names of these.
func Message(cmd *cobra.Command, err error) string {
	return flagName().ReplaceAllStringFunc(text(err), func(name string) string {
		flag := cmd.Flags().Lookup(strings.TrimPrefix(name, "--"))
		if flag == nil {
			return name
		}
		if _, ok := flag.Annotations[fromEnvironment]; !ok {
			return name
		}
		return variable(flag)
	})
}

// text is an error without its prefix. A damaged file is all that matters, whichever operation noticed it.
func text(err error) string {
	if damage, ok := errors.AsType[*monotable.DamageError](err); ok {
		err = damage
	}
	message := err.Error()
	if call, ok := errors.AsType[sdkCall](err); ok {
		message = strings.Replace(message, call.Error(), failure(call), 1)
	}
	return strings.TrimPrefix(message, "monotable: ")
}

// sdkCall is the error of a call of the AWS SDK. Its text also has the number of attempts, the HTTP status and the request ID.
type sdkCall interface {
	error
	Service() string
	Operation() string
}

// failure says why a call of the SDK failed, in as many words as a user needs.
func failure(call sdkCall) string {
	var response interface {
		ErrorCode() string
		ErrorMessage() string
	}
	if errors.As(call, &response) {
		advice := ""
		if response.ErrorCode() == "UnrecognizedClientException" { // its text is about a token, which the user may not have given
			advice = " Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to an access key of the server."
		}
		return fmt.Sprintf("%s: %s: %s%s", call.Operation(), response.ErrorCode(), response.ErrorMessage(), advice)
	}
	sent, ok := errors.AsType[*url.Error](call)
	switch {
	case !ok:
		return call.Error()
	case errors.Is(sent, syscall.ECONNREFUSED):
		return fmt.Sprintf("no server is listening at %s: start the database with \"monotable serve\", or use another --endpoint", strings.TrimSuffix(sent.URL, "/"))
	default:
		return fmt.Sprintf("%s: %s", call.Operation(), sent.Error())
	}
}
