import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries } from '#core/platform/database/binaries.ts';
import { buildProcessOptions } from '#core/platform/database/cluster.ts';
import { EmbeddedPostgres } from '#core/platform/database/embedded.ts';
import { chooseServerIdentity } from '#core/platform/database/identity.ts';
import { silentLog } from './database.ts';
import { freePort } from './free-port.ts';
import { createMemoryFolder } from './memory-folder.ts';
import { reapWithProcess } from './postgres-reaper.ts';

const startTimeoutMs = 40_000;

export interface ReplicatedPostgres extends AsyncDisposable {
  readonly primaryUrl: string; // of an empty database
  readonly replicaUrl: string;
}

/** Uses the embedded PostgreSQL, which lacks pg_basebackup. The replica therefore starts as a copy of the primary's files. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const folder = await createMemoryFolder('daypass-replica-');
  const reaper = reapWithProcess(folder);
  await chmod(folder, 0o755);
  const template = await EmbeddedPostgres.open(folder, silentLog);
  const { url } = template;
  await template.stop();
  const identity = await chooseServerIdentity(join(folder, 'postgres'));
  const { postgres } = await findBinaries(identity, join(folder, 'binaries'));
  const [data, copy] = [join(folder, 'postgres'), join(folder, 'replica')];
  const children: ChildProcess[] = [];
  const start = async (from: string, ...settings: string[]): Promise<string> => {
    const own = new URL(url);
    own.port = String(await freePort());
    const all = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'wal_level=replica',
      ...settings,
    ];
    const options = all.flatMap((setting) => ['-c', setting]);
    const child = spawn(postgres, ['-D', from, '-p', own.port, ...options], {
      ...buildProcessOptions(identity),
      stdio: 'ignore',
    });
    children.push(child);
    await waitUntilReady(own.href);
    return own.href;
  };
  const primaryUrl = await start(data, 'max_wal_senders=2');
  const { hostname, port, username, password } = new URL(primaryUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  await copyServer(primaryUrl, data, copy);
  if (identity !== undefined) await chownAll(copy, identity);
  const replicaUrl = await start(copy, 'hot_standby=on', `primary_conninfo=${conninfo}`);
  return {
    primaryUrl,
    replicaUrl,
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGQUIT');
          await once(child, 'exit');
        }
      }
      await rm(folder, { recursive: true, force: true });
      reaper[Symbol.dispose]();
    },
  };
}

/** Copies a server the way pg_basebackup does. */
async function copyServer(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('replica', true)`);
    await cp(from, to, { recursive: true, preserveTimestamps: true });
    const { rows } = await client.query<{ label: string }>('SELECT labelfile AS label FROM pg_backup_stop(false)');
    await writeFile(join(to, 'backup_label'), rows[0]?.label ?? '');
    await writeFile(join(to, 'standby.signal'), '');
    await rm(join(to, 'postmaster.pid'));
    await chmod(to, 0o700);
  } finally {
    await client.end();
  }
}

async function chownAll(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
  await chown(folder, uid, gid);
  for (const name of await readdir(folder, { recursive: true })) await chown(join(folder, name), uid, gid);
}

async function waitUntilReady(url: string): Promise<void> {
  const end = performance.now() + startTimeoutMs;
  for (;;) {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await setTimeout(50);
    }
  }
}
