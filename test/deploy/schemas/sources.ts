/** What publishes the kinds of deploy/kubernetes: modules that Go downloads. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Kinds of Kubernetes itself, by apiVersion. */
export const kubernetes = {
  module: 'k8s.io/kubernetes@v1.37.2',
  file: 'api/openapi-spec/swagger.json',
  kinds: {
    'v1/ConfigMap': 'io.k8s.api.core.v1.ConfigMap',
    'v1/PersistentVolumeClaim': 'io.k8s.api.core.v1.PersistentVolumeClaim',
    'v1/Secret': 'io.k8s.api.core.v1.Secret',
    'v1/Service': 'io.k8s.api.core.v1.Service',
    'apps/v1/StatefulSet': 'io.k8s.api.apps.v1.StatefulSet',
    'autoscaling/v2/HorizontalPodAutoscaler': 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
    'batch/v1/CronJob': 'io.k8s.api.batch.v1.CronJob',
    'networking.k8s.io/v1/Ingress': 'io.k8s.api.networking.v1.Ingress',
    'networking.k8s.io/v1/NetworkPolicy': 'io.k8s.api.networking.v1.NetworkPolicy',
    'policy/v1/PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
  },
};

/** Custom resources, by the module that has their definition. */
export const customResources = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.6.3',
    file: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
    version: 'v1',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    version: 'v1',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    version: 'v1',
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    file: 'config/crd/bases/keda.sh_scaledobjects.yaml',
    version: 'v1alpha1',
  },
];

/** @returns the text of a file of a Go module */
export async function readModule(module: string, file: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: tmpdir() });
  const { Dir: folder } = JSON.parse(stdout) as { readonly Dir: string };
  return readFile(join(folder, file), 'utf8');
}
