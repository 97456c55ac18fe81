import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold: number;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector?: Record<string, unknown>;
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number };
        readonly containers: readonly {
          readonly image: string;
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
          readonly env: readonly { readonly name: string }[];
          readonly readinessProbe: Probe;
          readonly livenessProbe: Probe;
          readonly startupProbe: Probe;
          readonly volumeMounts: readonly { readonly mountPath: string }[];
        }[];
      };
    };
  };
  readonly stringData?: Record<string, string>;
}

const yaml = parse(read('deploy/container/gateway.yaml')) as {
  readonly listen: { readonly notice_period: number; readonly drain_timeout: number };
  readonly operator: { readonly port: number };
  readonly data: { readonly folder: string };
};
const stops = yaml.listen.notice_period + yaml.listen.drain_timeout;
const variables = [...read('deploy/container/gateway.yaml').matchAll(/\$\{(\w+)(:-)?/g)].map(([, name = '']) => name);

describe('the manifests for Kubernetes', () => {
  const all = parseAllDocuments(read('deploy/kubernetes/daypass.yaml')).map((one) => one.toJS() as Manifest);
  const of = (kind: string) => all.filter((one) => one?.kind === kind);
  const [set] = of('StatefulSet');
  const pod = set?.spec.template.spec;
  const container = pod?.containers[0];

  it('are valid YAML, and have what an operator expects', () => {
    expect(
      all
        .map((one) => one.kind)
        .toSorted()
        .join(' '),
    ).toBe('HorizontalPodAutoscaler Ingress NetworkPolicy PodDisruptionBudget Secret Service Service StatefulSet');
  });

  it('wait longer for a pod than it needs to stop', () => {
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(stops);
  });

  it('notice a pod that drains before it refuses requests', () => {
    const { periodSeconds = 0, timeoutSeconds = 1, failureThreshold = 0 } = container?.readinessProbe ?? {};
    expect(periodSeconds * failureThreshold + timeoutSeconds).toBeLessThanOrEqual(yaml.listen.notice_period);
  });

  it('ask the paths that the gateway has, on its ports', () => {
    expect(
      [container?.startupProbe, container?.readinessProbe, container?.livenessProbe].map((one) => one?.httpGet.path),
    ).toEqual(['/livez', '/readyz', '/livez']);
    expect(container?.ports.map(({ containerPort }) => containerPort)).toEqual([8080, yaml.operator.port]);
  });

  it('set every variable of gateway.yaml, mount what it names, and run as the user of the image', () => {
    const given = new Set([
      ...(container?.env ?? []).map(({ name }) => name),
      ...Object.keys(of('Secret')[0]?.stringData ?? {}),
    ]);
    expect(variables.filter((name) => name !== 'PORT' && !given.has(name))).toEqual([]);
    expect(container?.volumeMounts.map(({ mountPath }) => mountPath)).toContain(yaml.data.folder);
    expect(read('deploy/Containerfile')).toContain(`USER ${pod?.securityContext.runAsUser}:`);
  });

  it('run the version of this checkout', () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(container?.image).toBe(`daypass:${version}`);
  });
});

describe('compose.yaml', () => {
  const compose = parse(read('deploy/container/compose.yaml'), { merge: true }) as {
    readonly services: Record<
      string,
      { readonly ports?: readonly string[]; readonly stop_grace_period?: string; readonly environment?: object }
    >;
    readonly networks: {
      readonly inside: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } };
    };
  };

  it('publishes the port of the proxy and no other', () => {
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['proxy', ['443:443']]]);
  });

  it('waits longer for a gateway than it needs to stop, sets its variables, and has the network that it trusts', () => {
    for (const name of ['gateway-1', 'gateway-2']) {
      const { stop_grace_period = '', environment = {} } = compose.services[name] ?? {};
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(stops);
      const optional = new Set(['PORT', 'PROXY_NETWORK']);
      expect(variables.filter((variable) => !optional.has(variable) && !(variable in environment))).toEqual([]);
    }
    expect(read('deploy/container/gateway.yaml')).toContain(compose.networks.inside.ipam.config[0]?.subnet);
  });
});

/** Lines of a configuration of HAProxy without the names of the instances and of resolving them. */
const settings = (path: string) =>
  read(path)
    .split('\n')
    .filter((line) => /^ {2}(?!default-server|server|#|parse-resolv-conf|hold valid)/.test(line));

it('HAProxy has the same settings in compose.yaml as in the example', () => {
  expect(settings('deploy/container/haproxy.cfg')).toEqual(settings('deploy/proxies/haproxy.cfg'));
});

it('proxies never forward to the port of the operator', () => {
  for (const path of globSync('deploy/proxies/*', { cwd: root }))
    expect([path, read(path).includes('9080')]).toEqual([path, false]);
});

it('every workflow says that it was not run by its authors', () => {
  for (const path of globSync('.github/workflows/*.yml', { cwd: root }))
    expect(read(path).split('\n')[0]).toMatch(/^# .*not run there/);
});
