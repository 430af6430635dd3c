{{/* Name of the release's objects. */}}
{{- define "aloft.name" -}}
{{- if contains "aloft" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-aloft" (.Release.Name | trunc 34 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a part: a dict of `root` and `part`. */}}
{{- define "aloft.selector" -}}
app.kubernetes.io/name: aloft
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* Labels of an object: a dict of `root` and `part`. */}}
{{- define "aloft.labels" -}}
{{ include "aloft.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "aloft.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{/* Settings of all pods: no rights in the cluster, and a user without rights on the node. */}}
{{- define "aloft.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "aloft.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* Rules for outgoing connections: everything except some networks. */}}
{{- define "aloft.egress" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        {{- with .Values.networkPolicy.egressExcept }}
        except: {{ toJson . }}
        {{- end }}
    - ipBlock: { cidr: "::/0" }
    # Blocks of addresses are for what is outside of the cluster.
    - namespaceSelector: {}
{{- end -}}
