import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { testCertificate, testKey } from '../support/tls-upstream.ts';

const examples = join(import.meta.dirname, '..', '..', 'deploy', 'proxies');

/** Where a proxy listens, and the instances behind it. */
export interface ProxyPorts {
  readonly port: number;
  readonly instances: readonly number[];
}

/** A proxy that runs with its example from deploy/proxies. */
export interface RunningProxy extends AsyncDisposable {
  /** Takes an instance out before it is stopped, where the proxy does not ask instances how they are. */
  takeOut(instance: number): Promise<void>;
  /** Puts it back. */
  putBack(instance: number): Promise<void>;
  /** What it has printed. */
  output(): string;
}

export interface Proxy {
  readonly name: string;
  isInstalled(): boolean;
  start(folder: string, ports: ProxyPorts): Promise<RunningProxy>;
}

const isInstalled = (program: string, option: string) => spawnSync(program, [option]).error === undefined;

const nginx: Proxy = {
  name: 'nginx',
  isInstalled: () => isInstalled('nginx', '-v'),
  async start(folder, ports) {
    const site = (await example('nginx.conf', ports))
      .replace('listen 443 ssl', `listen 127.0.0.1:${ports.port} ssl`)
      .replaceAll('/etc/ssl/daypass', folder);
    await writeCertificate(folder);
    const file = join(folder, 'nginx.conf');
    await writeFile(file, main(folder));
    const out = new Set<number>();
    const writeSite = () =>
      writeFile(
        join(folder, 'site.conf'),
        [...out].reduce(
          (text, instance) => text.replace(`127.0.0.1:${instance} max`, `127.0.0.1:${instance} down max`),
          site,
        ),
      );
    await writeSite();
    const running = await run('nginx', ['-p', folder, '-c', file], ports.port);
    const reload = async () => {
      await writeSite();
      running.child.kill('SIGHUP');
      // The new workers take over within this time; the old ones finish what they have.
      await setTimeout(1_500);
    };
    return {
      ...running,
      takeOut: (instance) => (out.add(instance), reload()),
      putBack: (instance) => (out.delete(instance), reload()),
    };
  },
};

const main = (folder: string) => `daemon off;
user ${process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? 'nobody')};
worker_processes 2;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; include ${folder}/site.conf; }
`;

const haproxy: Proxy = {
  name: 'HAProxy',
  isInstalled: () => isInstalled('haproxy', '-v'),
  async start(folder, ports) {
    await writeCertificate(folder);
    const text = (await example('haproxy.cfg', ports))
      .replace('bind :443', `bind 127.0.0.1:${ports.port}`)
      .replaceAll('/etc/ssl/daypass', folder);
    await writeFile(join(folder, 'haproxy.cfg'), text);
    return { ...(await run('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], ports.port)), ...byItself };
  },
};

const caddy: Proxy = {
  name: 'Caddy',
  isInstalled: () => isInstalled('caddy', 'version'),
  async start(folder, ports) {
    await writeCertificate(folder);
    const site = (await example('Caddyfile', ports)).replace(
      'ai.example.com {',
      `https://localhost:${ports.port} {\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`,
    );
    await writeFile(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
    const words = ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    return {
      ...(await run('caddy', words, ports.port, { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder })),
      ...byItself,
    };
  },
};

export const proxies: readonly Proxy[] = [nginx, haproxy, caddy];

/** Its health checks see an instance that drains. */
const byItself = { takeOut: () => Promise.resolve(), putBack: () => setTimeout(3_000) };

async function example(name: string, { instances: [one, two] }: ProxyPorts): Promise<string> {
  const text = await readFile(join(examples, name), 'utf8');
  return text.replace('10.0.0.11:8080', `127.0.0.1:${one}`).replace('10.0.0.12:8080', `127.0.0.1:${two}`);
}

async function writeCertificate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'fullchain.pem'), testCertificate);
  await writeFile(join(folder, 'privkey.pem'), testKey);
  await writeFile(join(folder, 'daypass.pem'), testCertificate + testKey);
}

interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  output(): string;
}

/** @throws Error with what it has printed, when it does not listen within ten seconds */
async function run(program: string, words: string[], port: number, own: Record<string, string> = {}): Promise<Running> {
  const child = spawn(program, words, { env: { ...process.env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  const exited = once(child, 'exit');
  const deadline = performance.now() + 10_000;
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${program} does not run:\n${output}`);
    await setTimeout(50);
  }
  return {
    child,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
