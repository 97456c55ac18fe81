import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { testCertificate, testKey } from '../support/tls-upstream.ts';
import { type Shell, until } from './shell.ts';

const group = 'custom.metrics.k8s.io';
const version = `${group}/v1beta2`;
const metric = 'daypass_requests_running';

/**
 * Serves the metric of autoscaler.yaml in place of prometheus-adapter, as a part of the API, until it is disposed of.
 *
 * @param running requests in flight, which the pods share equally
 */
export async function startMetricsAdapter(shell: Shell, running: number): Promise<AsyncDisposable> {
  const answer = async (path: string): Promise<object | undefined> => {
    if (path === `/apis/${version}`) return resources;
    if (!path.startsWith(`/apis/${version}/namespaces/daypass/pods/*/${metric}`)) return undefined;
    const { out } = await shell.run('kubectl -n daypass get pods -l app=daypass -o name');
    const pods = out.trim().split('\n');
    return valuesOf(pods, running / pods.length);
  };
  const server = createServer({ cert: testCertificate, key: testKey }, (request, response) => {
    const reply = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    answer(decodeURIComponent(request.url ?? '').replace(/\?.*/, '')).then(
      (body) => reply(body === undefined ? 404 : 200, body ?? {}),
      (error: unknown) => reply(500, { message: String(error) }),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await shell.apply(...registration(port));
  const apiService = `apiservice v1beta2.${group}`;
  await until('the adapter is available', async () => {
    const { out } = await shell.run(`kubectl get ${apiService} -o jsonpath='{.status.conditions[*].status}'`);
    return out === 'True';
  });
  return {
    async [Symbol.asyncDispose]() {
      await shell.run(`kubectl delete ${apiService}`);
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: version,
  resources: [{ name: `pods/${metric}`, singularName: '', namespaced: true, kind: 'MetricValueList', verbs: ['get'] }],
};

function valuesOf(pods: readonly string[], value: number): object {
  const items = pods.map((name) => ({
    describedObject: { kind: 'Pod', namespace: 'daypass', name: name.replace('pod/', ''), apiVersion: '/v1' },
    metric: { name: metric },
    timestamp: new Date().toISOString(),
    value: `${Math.round(value * 1_000)}m`,
  }));
  return { kind: 'MetricValueList', apiVersion: version, metadata: {}, items };
}

/** A service whose name leads to this machine, and the part of the API that it serves. */
const registration = (port: number): object[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'metrics-adapter', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1beta2.${group}` },
    spec: {
      group,
      version: 'v1beta2',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { name: 'metrics-adapter', namespace: 'default', port },
    },
  },
];
