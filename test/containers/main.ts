/**
 * `npm run containers`: builds the image, runs it alone, then starts deploy/container/compose.yaml as it is, and replaces one gateway
 * after the other under load. Prints what was seen, and exits with 1 when a figure is missed. Needs Linux, root, podman and
 * podman-compose. Everything runs in a separate network namespace, so ports that are in use on this machine do not matter.
 *
 *     npm run containers -- --stand-ins    # images of Debian packages under the registry's names, where no registry can be reached
 *     npm run containers -- --built        # with the image daypass as it is
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Load } from '../rolling/load.ts';
import { closeServer, startUpstream } from '../rolling/upstream.ts';
import { testCertificate, testKey } from '../support/tls-upstream.ts';
import { exec, podman, reenter, tries, waitFor } from './podman.ts';
import { makeStandIns } from './stand-ins.ts';

const { values } = parseArgs({ options: { 'stand-ins': { type: 'boolean' }, built: { type: 'boolean' } } });
const root = join(import.meta.dirname, '..', '..');
const project = 'daypass-trial';
const nameOf = (service: string) => `${project}_${service}_1`;

let missed = 0;
function figure(what: string, isMet: boolean, seen: string): void {
  console.log(`${isMet ? 'ok    ' : 'MISSED'} ${what}: ${seen}`);
  if (!isMet) missed++;
}

if (process.env['DAYPASS_NAMESPACE'] === undefined) {
  if (values['stand-ins'] === true) await makeStandIns();
  if (values.built !== true)
    await podman(
      'build',
      '--network',
      'host',
      '--format',
      'docker',
      '-f',
      join(root, 'deploy', 'Containerfile'),
      '-t',
      'daypass',
      root,
    );
  process.exitCode = reenter();
} else {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'daypass-containers-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await tryImage(folder);
  await tryCompose(folder);
  process.exitCode = missed === 0 ? 0 : 1;
}

/** The image alone, as docs/deploy.md starts it: what it is, and that it keeps to its limits. */
async function tryImage(folder: string): Promise<void> {
  const [size = '', user = '', health = ''] = (
    await podman(
      'image',
      'inspect',
      'daypass',
      '--format',
      '{{.Size}} {{.Config.User}} {{.Config.Healthcheck.Interval}}',
    )
  ).split(' ');
  figure(
    'the image has a user and a health check',
    user === '10001:10001' && health !== '',
    `${user}, ${Math.round(Number(size) / 1e6)} MB`,
  );
  const file = join(folder, 'demo.yaml');
  await writeFile(
    file,
    'data: { folder: /data }\npipeline: [auth, plan, cache, format, upstream, log]\nupstreams: { demo: { vendor: demo } }\nmodels: { demo: { routes: [demo/chatty] } }\n',
  );
  const limits = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'];
  const run = ['run', '--rm', ...limits, '-v', `${file}:/config/gateway.yaml:ro`, '-e', 'NODE_ENV=', 'daypass'];
  const check = await tries('podman', [...run, 'check']);
  figure(
    'daypass check in the image',
    check.code === 0,
    `exit code ${check.code}${check.code === 0 ? '' : check.output}`,
  );
  const start = await tries('podman', run);
  figure(
    'without DATABASE_URL it says what to do',
    start.code === 78 && start.output.includes('DATABASE_URL'),
    `exit code ${start.code}, ${/"error":"(.*?)"/.exec(start.output)?.[1] ?? start.output}`,
  );
}

async function tryCompose(parent: string): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const upstream = await startUpstream('0.0.0.0');
  opened.defer(() => closeServer(upstream));
  const folder = join(parent, 'container');
  await cp(join(root, 'deploy', 'container'), folder, { recursive: true });
  await mkdir(join(folder, 'tls'));
  await writeFile(join(folder, 'tls', 'daypass.pem'), testCertificate + testKey);
  const variables = [
    'BASE_URL=https://localhost',
    'CONTACT=mailto:you@example.org',
    'OPERATOR_TOKEN=a-long-random-text-of-a-trial',
    'DATABASE_PASSWORD=trial',
    'OPENAI_API_KEY=trial',
  ];
  await writeFile(join(folder, '.env'), `${variables.join('\n')}\n`);
  // The first address of the network is this side of it.
  const url = `http://172.30.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const yaml = (await readFile(join(folder, 'gateway.yaml'), 'utf8'))
    .replace('openai: { vendor: openai,', `openai: { format: chat, base_url: "${url}",`)
    .replace('gpt-6-sol: {', 'rolled: {')
    .replace(
      /limit: 60, period: 60, burst: 20, concurrent: 8/,
      'limit: 1000000, period: 60, burst: 100000, concurrent: 1000',
    );
  await writeFile(join(folder, 'gateway.yaml'), yaml);
  const compose = (...words: string[]) => exec('podman-compose', ['--in-pod', '0', '-p', project, ...words], folder);
  const isHealthy = (service: string) =>
    tries('podman', ['healthcheck', 'run', nameOf(service)]).then(({ code }) => code === 0);
  const gateways = ['gateway-1', 'gateway-2'];
  opened.defer(async () => {
    if (missed > 0)
      for (const name of gateways) console.log((await tries('podman', ['logs', '--tail', '20', nameOf(name)])).output);
    await compose('down', '--volumes', '--timeout', '5');
  });
  const began = performance.now();
  await compose('up', '-d', '--no-build');
  for (const service of ['database', 'redis', ...gateways]) await waitFor(service, () => isHealthy(service));
  figure(
    'compose.yaml starts, on an empty database',
    true,
    `all healthy after ${Math.round((performance.now() - began) / 1000)} s`,
  );
  const users = await Promise.all(gateways.map((name) => podman('exec', nameOf(name), 'id', '-u')));
  figure(
    'gateways are not root',
    users.every((user) => user === '10001'),
    users.join(' '),
  );
  const writing = await tries('podman', ['exec', nameOf('gateway-1'), 'touch', '/app/x']);
  figure('the root is read-only', writing.code !== 0, writing.output);
  const created = await podman('exec', nameOf('gateway-1'), 'daypass', 'key', 'create', '--name', 'Ada', '--days', '1');
  const key = /dp-[\w-]{20,}/.exec(created)?.[0] ?? '';
  const load = new Load({
    url: 'https://127.0.0.1',
    key,
    requests: { atOnce: 15, atLeast: 500 },
    streams: { atOnce: 8, atLeast: 40 },
  });
  await setTimeout(3_000);
  for (const name of gateways) {
    const before = performance.now();
    await compose('up', '-d', '--no-build', '--no-deps', '--force-recreate', name);
    await waitFor(name, () => isHealthy(name));
    console.log(`       ${name} was replaced in ${Math.round((performance.now() - before) / 1000)} s`);
    await setTimeout(4_000);
  }
  await load.finish();
  const some = load.failures.slice(0, 4).map((failure) => JSON.stringify(failure));
  const lost = load.failures.length;
  figure(
    'requests and streams lost while both were replaced',
    lost === 0,
    [`${lost} of ${load.requests} and ${load.streams}`, ...some].join('\n'),
  );
  const codes = spawnSync('podman', ['stop', '--time', '40', nameOf('gateway-1')]);
  const code = await podman('inspect', nameOf('gateway-1'), '--format', '{{.State.ExitCode}}');
  figure('SIGTERM ends a gateway within its grace period', codes.status === 0 && code === '0', `exit code ${code}`);
}
