import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readDocument } from '#core/config/file/document.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { assembleForCommand } from '#core/extension/assembly.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { checkAccess } from '#core/gateway/operator-listener/access.ts';
import { writePrometheusRule } from '../../.ci/kubernetes.ts';
import { silentLog } from '../support/database.ts';
import { type Manifest, mistakesOf } from './schemas/mistakes.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const folder = 'deploy/kubernetes';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string }[];
  readonly envFrom: readonly object[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly startupProbe: Probe;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

interface StatefulSet extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number };
        readonly initContainers: readonly [Container];
        readonly containers: readonly [Container];
      };
    };
  };
}

const kustomization = parse(read(`${folder}/kustomization.yaml`)) as {
  readonly images: readonly { readonly name: string }[];
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly files?: readonly string[]; readonly literals?: readonly string[] }[];
};
/** Files of folder that are no manifests: what kustomize reads itself, and values of another chart. */
const others = new Set(['kustomization.yaml', 'gateway.yaml', 'prometheus-adapter.values.yaml']);
const files = readdirSync(join(root, folder)).filter((name) => !others.has(name));
const manifestsOf = (name: string) => parseAllDocuments(read(`${folder}/${name}`)).map((one) => one.toJS() as Manifest);
const first = <M extends Manifest>(name: string) => manifestsOf(name)[0] as M;
const set = first<StatefulSet>('statefulset.yaml');
const pod = set.spec.template.spec;
const [container] = pod.containers;

/** What two containers of a pod have in common. */
const shared = ({ image, env, envFrom, securityContext, volumeMounts }: Container) => ({
  image,
  env,
  envFrom,
  securityContext,
  volumeMounts,
});

describe('the manifests for Kubernetes', () => {
  it.each(files)('are valid by the published schemas: %s', (name) => {
    expect(manifestsOf(name).flatMap(mistakesOf)).toEqual([]);
  });

  it('would not be valid with an unknown field, a missing one or another type', () => {
    expect(mistakesOf({ ...set, spec: { ...set.spec, replica: 2 } } as Manifest)).toEqual([
      expect.stringContaining('"additionalProperty":"replica"'),
    ]);
    const route = first('http-route.yaml') as Manifest & { readonly spec: object };
    expect(mistakesOf({ ...route, spec: { ...route.spec, hostnames: 'ai.example.com' } } as Manifest)).not.toEqual([]);
    expect(mistakesOf({ ...first('network-policy.yaml'), spec: { podSelector: [] } } as Manifest)).not.toEqual([]);
    expect(mistakesOf({ ...set, kind: 'Deployment' })).toEqual([expect.stringContaining('no schema of')]);
  });

  it('are all in the kustomization, used or to be used, but for the secret, which an apply would set back', () => {
    const text = read(`${folder}/kustomization.yaml`);
    const named = [...text.matchAll(/^ {2}(?:# )?- (\S+\.yaml)/gm)].map(([, name = '']) => name);
    const alternatives = ['scaled-object.yaml'];
    expect([...named, ...alternatives, 'secret.example.yaml'].toSorted()).toEqual(files.toSorted());
    expect(kustomization.resources.flatMap(manifestsOf).map(({ kind }) => kind)).not.toContain('Secret');
  });

  it('leave the number of pods to the autoscaler, which each apply would set back', () => {
    expect(set.spec).not.toHaveProperty('replicas');
    const scaler = first<
      Manifest & { spec: { minReplicas: number; metrics: { pods: { metric: { name: string } } }[] } }
    >('autoscaler.yaml');
    const keda = first<Manifest & { spec: { minReplicaCount: number; triggers: { metadata: { query: string } }[] } }>(
      'scaled-object.yaml',
    );
    const budget = first<Manifest & { spec: { maxUnavailable: number } }>('disruption-budget.yaml');
    for (const least of [scaler.spec.minReplicas, keda.spec.minReplicaCount])
      expect(least).toBeGreaterThan(budget.spec.maxUnavailable);
    const metric = scaler.spec.metrics[0]?.pods.metric.name ?? '';
    expect(read('plugins/metrics/index.ts')).toContain(`gauge('${metric.replace('daypass_', '')}'`);
    expect(keda.spec.triggers[0]?.metadata.query).toContain(metric);
    expect(read(`${folder}/prometheus-adapter.values.yaml`)).toContain(`as: ${metric}`);
  });

  it('migrate where no probe ends a migration, with what the gateway has', () => {
    const [migrate] = pod.initContainers;
    expect(migrate.args).toEqual(['migrate']);
    expect(shared(migrate)).toEqual(shared(container));
    expect(kustomization.images.map(({ name }) => name)).toEqual([container.image]);
  });

  it('wait longer for a pod than it needs to stop, and notice one that drains before it refuses requests', () => {
    const { listen } = parse(read(`${folder}/gateway.yaml`)) as {
      readonly listen: { readonly notice_period: number; readonly drain_timeout: number };
    };
    // What still runs then is ended with an error, which takes up to two seconds.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Math.max(listen.notice_period, listen.drain_timeout) + 2);
    const { periodSeconds, timeoutSeconds = 1, failureThreshold } = container.readinessProbe;
    expect(periodSeconds * failureThreshold + timeoutSeconds).toBeLessThanOrEqual(listen.notice_period);
  });

  it('ask the paths that the gateway has, on its ports, mount its folders and run as the user of the image', () => {
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
    expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/livez', '/readyz', '/livez']);
    expect(container.ports?.map(({ containerPort }) => containerPort)).toEqual([8080, 9080]);
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/data', '/config', '/tmp']);
    const { runAsUser } = pod.securityContext;
    expect(read('deploy/Containerfile')).toContain(`USER ${runAsUser}:`);
    // Kubernetes and Docker add no entry of their own, and the embedded PostgreSQL needs one.
    expect(read('deploy/Containerfile')).toContain(
      `echo 'daypass:x:${runAsUser}:${runAsUser}::/data:/usr/sbin/nologin' >>/etc/passwd`,
    );
  });

  it('have the alerts of Prometheus, written by npm run manifests, and set the job that they expect', () => {
    expect(read(`${folder}/prometheus-rule.yaml`)).toBe(writePrometheusRule(read('deploy/prometheus/alerts.yml')));
    expect(read(`${folder}/service-monitor.yaml`)).toContain('{ targetLabel: job, replacement: daypass }');
    expect(read('deploy/prometheus/alerts.yml')).toContain('up{job="daypass"}');
  });
});

async function load(environment: Record<string, string>): Promise<Config> {
  const document = await readDocument(join(root, folder, 'gateway.yaml'), environment);
  const { registry } = await assembleForCommand(document, silentLog, () => {
    throw new Error('not started');
  });
  return validate(document, registry);
}

/** gateway.yaml without names and proxies. */
const same = (text: string) => {
  const { operator: _operator, listen, ...rest } = parse(text) as { operator: object; listen: object };
  return { ...rest, listen: { ...listen, trusted_proxies: [] } };
};

describe('gateway.yaml of Kubernetes', () => {
  const literals = kustomization.configMapGenerator.flatMap(({ literals: lines = [] }) => lines);
  const secret = first<Manifest & { readonly stringData: Record<string, string> }>('secret.example.yaml');
  const shipped: Record<string, string> = {
    ...Object.fromEntries(literals.map((line) => line.split(/=(.*)/s) as [string, string])),
    ...secret.stringData,
    POD_NAMESPACE: 'shop',
    NODE_ENV: 'production',
  };
  const edited = { ...shipped, CONTACT: 'mailto:help@shop.test', OPERATOR_TOKEN: '0123456789abcdef' };

  it('differs from that of containers in names and what surrounds it only', () => {
    expect(same(read(`${folder}/gateway.yaml`))).toEqual(same(read('deploy/container/gateway.yaml')));
  });

  it('is refused with the values of the examples, each of which is marked', async () => {
    const refusal = String(await load(shipped).catch((error: unknown) => error));
    for (const [path, pattern] of [
      ['service.contact', /CONTACT=mailto:you@example\.com.*CHANGE/],
      ['operator.token', /OPERATOR_TOKEN: CHANGE/],
    ] as const) {
      expect(refusal).toContain(path);
      expect(read(`${folder}/kustomization.yaml`) + read(`${folder}/secret.example.yaml`)).toMatch(pattern);
    }
    expect(refusal.split('\n').filter((line) => line.includes('gateway.yaml:'))).toHaveLength(2);
  });

  it('is complete once they are changed', async () => {
    await expect(load(edited)).resolves.toBeDefined();
  });

  it('lets the operator listener be asked by all names of its service and pods', async () => {
    const { names } = (await load(edited)).get(operatorSection);
    const service = ['daypass-instances', 'daypass-instances.shop', 'daypass-instances.shop.svc'];
    for (const name of [...service, 'daypass-instances.shop.svc.cluster.local'])
      for (const host of [name, `daypass-1.${name}`]) {
        const request = { headers: { host: `${host}:9080` }, localAddress: '10.1.2.3' };
        expect([host, checkAccess(request, { names })]).toEqual([host, undefined]);
      }
  });
});

it('the kustomization of the dashboard has the label that Grafana’s sidecar looks for', () => {
  const {
    configMapGenerator: [map],
  } = parse(read('deploy/grafana/kustomization.yaml')) as {
    configMapGenerator: [{ files: string[]; options: { labels: object } }];
  };
  expect(map).toMatchObject({ files: ['dashboard.json'], options: { labels: { grafana_dashboard: '1' } } });
});
