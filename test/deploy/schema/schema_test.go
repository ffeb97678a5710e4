// Package schema checks the files in deploy against Compose's schema and the types of Kubernetes' API; unknown fields are
// errors. It is a separate module, so that programs that import the database do not depend on these modules.
package schema

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const files = "../../../deploy"

// build returns the manifests that `kubectl apply -k` applies, by kind.
func build(t *testing.T) map[string]string {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(files, "kubernetes"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		texts[r.GetKind()] = string(text)
	}
	return texts
}

// set is the set of objects, decoded strictly.
type set struct {
	namespace  core.Namespace
	account    core.ServiceAccount
	config     core.ConfigMap
	deployment apps.Deployment
	service    core.Service
	budget     policy.PodDisruptionBudget
	network    networking.NetworkPolicy
}

func (s *set) kinds() map[string]any {
	return map[string]any{
		"Namespace": &s.namespace, "ServiceAccount": &s.account, "ConfigMap": &s.config, "Deployment": &s.deployment, "Service": &s.service,
		"PodDisruptionBudget": &s.budget, "NetworkPolicy": &s.network,
	}
}

// TestKubernetes: the objects conform to Kubernetes' API, and all references between them resolve.
func TestKubernetes(t *testing.T) {
	var s set
	texts, kinds := build(t), s.kinds()
	if len(texts) != len(kinds) {
		t.Errorf("there are %d kinds, want %d", len(texts), len(kinds))
	}
	for kind, into := range kinds {
		if err := yaml.UnmarshalStrict([]byte(texts[kind]), into); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := yaml.UnmarshalStrict([]byte(strings.Replace(texts[kind], "metadata:\n", "metadata:\n  unknown: x\n", 1)), into); err == nil {
			t.Errorf("%s: a field that is not Kubernetes' is accepted", kind)
		}
	}
	pod := s.deployment.Spec.Template
	for name, selector := range map[string]*meta.LabelSelector{
		"deployment": s.deployment.Spec.Selector, "service": {MatchLabels: s.service.Spec.Selector}, "budget": s.budget.Spec.Selector,
		"network policy": &s.network.Spec.PodSelector, "spread": pod.Spec.TopologySpreadConstraints[0].LabelSelector,
		"spread by zone": pod.Spec.TopologySpreadConstraints[1].LabelSelector,
	} {
		matches, err := meta.LabelSelectorAsSelector(selector)
		if err != nil || matches.Empty() || !matches.Matches(labels.Set(pod.Labels)) {
			t.Errorf("the %s selects %v, and the pods have %v: %v", name, selector, pod.Labels, err)
		}
	}
	c := pod.Spec.Containers[0]
	if c.Image == "monotable" || pod.Spec.ServiceAccountName != s.account.Name {
		t.Errorf("the image is %q, the account %q", c.Image, pod.Spec.ServiceAccountName)
	}
	if got := c.EnvFrom[0].ConfigMapRef.Name; got != s.config.Name || s.config.Data["MONOTABLE_STORE"] == "" {
		t.Errorf("the variables are of %q, and there is %q", got, s.config.Name)
	}
	ports := []intstr.IntOrString{s.service.Spec.Ports[0].TargetPort}
	for _, p := range []*core.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		ports = append(ports, p.HTTPGet.Port)
	}
	for _, rule := range s.network.Spec.Ingress {
		ports = append(ports, *rule.Ports[0].Port)
	}
	for _, port := range ports {
		if !slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool {
			return p.Name == port.String() && len(validation.IsValidPortName(p.Name)) == 0
		}) {
			t.Errorf("no port of the container has the name %q", port.String())
		}
	}
	if s.budget.Spec.MaxUnavailable.IntValue() >= int(*s.deployment.Spec.Replicas) {
		t.Errorf("the budget lets all of %d servers go", *s.deployment.Spec.Replicas)
	}
}

// TestRestricted: the pod meets Kubernetes' "restricted" standard, which the namespace enforces, and writes only to in-memory
// file systems.
func TestRestricted(t *testing.T) {
	var s set
	for kind, into := range s.kinds() {
		if err := yaml.UnmarshalStrict([]byte(build(t)[kind]), into); err != nil {
			t.Fatal(err)
		}
	}
	if s.namespace.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Errorf("the namespace enforces %v", s.namespace.Labels)
	}
	spec := s.deployment.Spec.Template.Spec
	pod, own := spec.SecurityContext, spec.Containers[0].SecurityContext
	switch {
	case !*pod.RunAsNonRoot, *pod.RunAsUser == 0, pod.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault:
		t.Errorf("the pod: %v", pod)
	case *own.AllowPrivilegeEscalation, !slices.Equal(own.Capabilities.Drop, []core.Capability{"ALL"}), own.Capabilities.Add != nil, !*own.ReadOnlyRootFilesystem:
		t.Errorf("the container: %v", own)
	}
	mounted := map[string]bool{}
	for _, m := range spec.Containers[0].VolumeMounts {
		mounted[m.Name] = m.ReadOnly
	}
	for _, v := range spec.Volumes {
		readOnly, is := mounted[v.Name]
		if memory := v.EmptyDir != nil && v.EmptyDir.Medium == core.StorageMediumMemory; !is || !memory && (v.Secret == nil || !readOnly) {
			t.Errorf("volume %s: %v", v.Name, v.VolumeSource)
		}
	}
}

func loadCompose(t *testing.T, edit func(string) string) (*compose.Project, error) {
	t.Helper()
	dir, err := filepath.Abs(files)
	if err != nil {
		t.Fatal(err)
	}
	text, err := filesys.MakeFsOnDisk().ReadFile(filepath.Join(dir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), compose.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []compose.ConfigFile{{Filename: filepath.Join(dir, "compose.yaml"), Content: []byte(edit(string(text)))}},
	}, func(o *loader.Options) { o.SkipResolveEnvironment = true }) // the secrets do not exist here
}

// TestCompose: the file conforms to Compose's schema, and all mounted files exist.
func TestCompose(t *testing.T) {
	project, err := loadCompose(t, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadCompose(t, func(text string) string { return strings.Replace(text, "cap_drop:", "cap_dorp:", 1) }); err == nil {
		t.Error("a field that is not Compose's is accepted")
	}
	for name, c := range project.Configs {
		if !filesys.MakeFsOnDisk().Exists(c.File) {
			t.Errorf("config %s: there is no %s", name, c.File)
		}
	}
	for name, secret := range project.Secrets {
		if filepath.Base(filepath.Dir(secret.File)) != "secrets" || secret.Environment != "" {
			t.Errorf("secret %s is in %s", name, secret.File)
		}
	}
	for _, name := range []string{"monotable-1", "monotable-2", "monotable-3"} {
		s := project.Services[name]
		if s.Build == nil || s.Build.Dockerfile != "deploy/Dockerfile" || s.Image != "monotable:dev" || !s.ReadOnly || len(s.Secrets) != 4 || len(s.Ports) != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
