/** Gateways that can be installed from a package registry, and how to install, configure and start each. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const installTimeoutMs = 600_000; // of one step

export type ClientFormat = 'chat' | 'messages'; // that a gateway can serve from a Chat Completions upstream

export interface Peer {
  readonly name: string;
  readonly formats: readonly ClientFormat[];
  /** Installs the peer unless it is already there, and returns its version. Throws an Error with the reason. */
  install(folder: string): Promise<string>;
  start(folder: string, port: number, upstream: string): Promise<ChildProcess>;
  headers?(upstream: string): Readonly<Record<string, string>>; // in addition to key and content type
}

const nginx: Peer = {
  name: 'nginx',
  formats: ['chat'],
  async install(folder) {
    if (!existsSync(join(folder, 'usr/sbin/nginx'))) {
      await execute('apt-get', ['download', 'nginx'], folder);
      await execute('sh', ['-c', 'dpkg -x nginx_*.deb .'], folder);
    }
    const { stderr } = await run(join(folder, 'usr/sbin/nginx'), ['-v']);
    return stderr.trim().replace(/.*\//, '');
  },
  async start(folder, port, upstream) {
    const lines = [
      'daemon off; worker_processes auto; error_log stderr; pid nginx.pid;',
      `user ${process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? 'nobody')};`,
      'events { worker_connections 4096; }',
      'http {',
      '  access_log access.log; client_max_body_size 64m; client_body_buffer_size 1m; keepalive_requests 1000000;',
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${name}_temp;`),
      `  upstream bench { server ${new URL(upstream).host}; keepalive 128; keepalive_requests 1000000; }`,
      `  server { listen 127.0.0.1:${port};`,
      '    location / { proxy_pass http://bench; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }',
      '  }',
      '}',
    ];
    await writeFile(join(folder, 'nginx.conf'), lines.join('\n'));
    return launch(join(folder, 'usr/sbin/nginx'), ['-p', folder, '-c', join(folder, 'nginx.conf')], folder);
  },
};

const litellm: Peer = {
  name: 'LiteLLM',
  formats: ['chat', 'messages'],
  async install(folder) {
    const python = join(folder, 'venv/bin/python');
    if (!existsSync(join(folder, 'venv/bin/litellm'))) {
      await execute('python3', ['-m', 'venv', 'venv'], folder);
      await execute(python, ['-m', 'pip', 'install', '-q', 'litellm[proxy]'], folder);
    }
    const { stdout } = await run(python, ['-c', 'import importlib.metadata as m; print(m.version("litellm"))']);
    return stdout.trim();
  },
  async start(folder, port, upstream) {
    const config = `model_list:
  - model_name: bench
    litellm_params: { model: openai/elsewhere, api_base: "${upstream}/v1", api_key: none }
router_settings: { disable_cooldowns: true } # there is one upstream, and it is well
`;
    await writeFile(join(folder, 'config.yaml'), config);
    const parameters = [
      '--config',
      'config.yaml',
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--telemetry',
      'False',
    ];
    return launch(join(folder, 'venv/bin/litellm'), parameters, folder, {
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      // LiteLLM refuses to start without a master key.
      LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
    });
  },
};

const portkey: Peer = {
  name: 'Portkey',
  formats: ['chat'],
  install: (folder) => installPackage(folder, '@portkey-ai/gateway', '1.15.2'),
  start: async (folder, port) =>
    launch('node', ['node_modules/@portkey-ai/gateway/build/start-server.js', `--port=${port}`, '--headless'], folder, {
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost',
    }),
  headers: (upstream) => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` }),
};

const claudeCodeRouter: Peer = {
  name: 'claude-code-router',
  formats: ['messages'],
  // The registry lacks a dependency of version 3.1.1.
  install: (folder) => installPackage(folder, '@musistudio/claude-code-router', '2.0.0'),
  async start(folder, port, upstream) {
    await mkdir(join(folder, '.claude-code-router'), { recursive: true });
    const config = {
      HOST: '127.0.0.1',
      PORT: port,
      LOG: false,
      Providers: [
        { name: 'bench', api_base_url: `${upstream}/v1/chat/completions`, api_key: 'none', models: ['elsewhere'] },
      ],
      Router: { default: 'bench,elsewhere' },
    };
    await writeFile(join(folder, '.claude-code-router/config.json'), JSON.stringify(config));
    return launch('node', ['node_modules/.bin/ccr', 'start'], folder, { HOME: folder, SERVICE_PORT: String(port) });
  },
};

export const peers: readonly Peer[] = [nginx, portkey, litellm, claudeCodeRouter];

async function installPackage(folder: string, name: string, version: string): Promise<string> {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) {
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await execute('npm', ['install', '--no-audit', '--no-fund', '--silent', `${name}@${version}`], folder);
  }
  const { stdout: node } = await run('node', ['--version'], { env: environmentOf({}) });
  return `${(JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version}, Node ${node.trim()}`;
}

async function execute(program: string, parameters: string[], folder: string): Promise<void> {
  await run(program, parameters, { cwd: folder, timeout: installTimeoutMs, maxBuffer: 16 * 1024 * 1024 });
}

/** The process's output goes to a file in the folder. */
function launch(
  program: string,
  parameters: string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn('sh', ['-c', 'exec "$@" > output.log 2>&1', 'sh', program, ...parameters], {
    cwd: folder,
    env: environmentOf(environment),
    stdio: 'ignore',
  });
}

/** Prefers the machine's own Node.js, if there is one, because Portkey does not stream on the version that this gateway runs on. */
function environmentOf(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...process.env, PATH: [...folders, dirname(process.execPath)].join(delimiter), ...own };
}
