import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';

const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : []; // PgBouncer refuses to run as root

export const hasPgBouncer = spawnSync('pgbouncer', ['--version']).error === undefined; // Debian's package is pgbouncer

/** Poolers in front of one database. */
export class PgBouncers implements AsyncDisposable {
  readonly #direct: URL;
  readonly #folder: string;
  readonly #started: ChildProcess[] = [];

  private constructor(direct: URL, folder: string) {
    this.#direct = direct;
    this.#folder = folder;
  }

  /** @param direct URL of the database, with user and password */
  static async open(direct: string): Promise<PgBouncers> {
    const folder = await mkdtemp(join(tmpdir(), 'daypass-pgbouncer-'));
    await chmod(folder, 0o755);
    return new PgBouncers(new URL(direct), folder);
  }

  /** @returns the URL for connecting through it */
  async start(mode: 'session' | 'transaction' | 'statement'): Promise<string> {
    const port = await freePort();
    const { hostname, port: backend, pathname, username, password } = this.#direct;
    const name = pathname.slice(1);
    const file = join(this.#folder, `${mode}.ini`);
    await writeFile(
      file,
      `[databases]\n${name} = host=${hostname} port=${backend} user=${username} password=${password}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nauth_type = any\npool_mode = ${mode}\ndefault_pool_size = ${mode === 'session' ? 40 : 4}\nunix_socket_dir =\n`,
    );
    this.#started.push(spawn('pgbouncer', [...user, file], { stdio: 'ignore' }));
    await vi.waitFor(
      async () => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.destroy();
      },
      { timeout: 20_000, interval: 50 },
    );
    return Object.assign(new URL(this.#direct), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pooler of this.#started) {
      pooler.kill('SIGINT');
      await once(pooler, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
