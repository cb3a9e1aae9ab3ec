{{- define "sentinel.name" -}}
{{- if contains "sentinel" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-sentinel" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sentinel.selector" -}}
app.kubernetes.io/name: sentinel
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "sentinel.labels" -}}
{{ include "sentinel.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "sentinel.image" -}}
{{- $image := .root.Values.image -}}
{{- if .digest }}{{ .name }}@{{ .digest }}{{ else }}{{ .name }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "sentinel.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "sentinel.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "sentinel.secretEnv" -}}
- name: SENTINEL_LEDGER
  valueFrom: { secretKeyRef: { name: {{ .Values.existingSecret }}, key: SENTINEL_LEDGER } }
- name: SENTINEL_MASTER_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.existingSecret }}, key: SENTINEL_MASTER_KEY } }
{{- end }}

{{- define "sentinel.gitEnv" -}}
{{- if .Values.code.credentialsSecret }}
- { name: GIT_CONFIG_COUNT, value: "1" }
- { name: GIT_CONFIG_KEY_0, value: credential.helper }
- { name: GIT_CONFIG_VALUE_0, value: "store --file=/etc/sentinel-git/credentials" }
{{- end }}
{{- end }}

{{/* The containers that clone the code before the start, and fetch it afterwards. */}}
{{- define "sentinel.codeContainers" -}}
{{- if .Values.code.repository }}
{{- $image := include "sentinel.image" (dict "root" . "name" .Values.image.reconciler "digest" .Values.image.reconcilerDigest) }}
- name: clone
  image: {{ $image }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [/opt/sentinel/bin/python, -I, /opt/sentinel/share/keep_fetched.py, --once, {{ .Values.code.repository | quote }}, /srv/infra]
  env: {{- include "sentinel.gitEnv" . | nindent 4 }}
    - { name: HOME, value: /tmp }
  securityContext: {{- include "sentinel.containerSecurity" . | nindent 4 }}
  volumeMounts: {{- include "sentinel.codeMounts" . | nindent 4 }}
- name: fetch
  restartPolicy: Always
  image: {{ $image }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command:
    [/opt/sentinel/bin/python, -I, /opt/sentinel/share/keep_fetched.py, --every, {{ .Values.code.fetchSeconds | quote }}, {{ .Values.code.repository | quote }}, /srv/infra]
  env: {{- include "sentinel.gitEnv" . | nindent 4 }}
    - { name: HOME, value: /tmp }
  resources:
    requests: { cpu: 10m, memory: 64Mi }
    limits: { memory: 512Mi }
  securityContext: {{- include "sentinel.containerSecurity" . | nindent 4 }}
  volumeMounts: {{- include "sentinel.codeMounts" . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "sentinel.codeMounts" -}}
- { name: code, mountPath: /srv/infra }
- { name: tmp, mountPath: /tmp }
{{- if .Values.code.credentialsSecret }}
- { name: git, mountPath: /etc/sentinel-git, readOnly: true }
{{- end }}
{{- end }}

{{- define "sentinel.volumes" -}}
- name: settings
  configMap: { name: {{ include "sentinel.name" . }} }
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
- name: code
  {{- toYaml .Values.code.volume | nindent 2 }}
{{- if .Values.code.credentialsSecret }}
- name: git
  secret: { secretName: {{ .Values.code.credentialsSecret }}, defaultMode: 0440 }
{{- end }}
{{- end }}
