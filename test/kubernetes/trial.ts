import { ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../deploy/schemas/mistakes.ts';
import type { InstalledProgram } from '../support/install-program.ts';

const run = promisify(execFile);
const deploy = join(import.meta.dirname, '..', '..', 'deploy');

/** An object that kustomize has written. */
export interface Built extends Manifest {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** A copy of deploy/kubernetes that is edited as its comments say. */
export interface Trial extends AsyncDisposable {
  /** Where a checkout would be: it has `deploy`. */
  readonly folder: string;
  /** Replaces text in a file. @throws AssertionError when it is not there */
  edit(file: string, text: string | RegExp, by: string): Promise<void>;
  /** Takes every part into the kustomization that is commented out. */
  takeAll(): Promise<void>;
  restore(): Promise<void>;
  /** @throws Error with what kubectl says, warnings included */
  build(): Promise<Built[]>;
  /** Builds a kustomization beside it that has it as a resource, with larger volumes in another namespace. */
  buildOverlay(): Promise<Built[]>;
}

export async function openTrial({ program }: InstalledProgram): Promise<Trial> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-manifests-'));
  const restore = () => cp(deploy, join(folder, 'deploy'), { recursive: true, force: true });
  await restore();
  const kustomize = async (path: string): Promise<Built[]> => {
    const { stdout, stderr } = await run(program, ['kustomize', join(folder, path)], { maxBuffer: 64 * 1_024 * 1_024 });
    ok(stderr === '', stderr);
    return parseAllDocuments(stdout).map((one) => one.toJS() as Built);
  };
  const edit: Trial['edit'] = async (file, text, by) => {
    const path = join(folder, 'deploy', 'kubernetes', file);
    const before = await readFile(path, 'utf8');
    const after = before.replace(text, by);
    ok(after !== before, `${file} has no ${text}`);
    await writeFile(path, after);
  };
  return {
    folder,
    edit,
    async takeAll() {
      await edit('kustomization.yaml', /^ {2}# - (\S+\.yaml)/gm, '  - $1');
      await edit('kustomization.yaml', /^components: \[\]\n {2}# - /m, 'components:\n  - ');
    },
    restore,
    build: () => kustomize('deploy/kubernetes'),
    async buildOverlay() {
      await mkdir(join(folder, 'own'), { recursive: true });
      await writeFile(join(folder, 'own', 'kustomization.yaml'), overlay);
      return kustomize('own');
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

const overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
resources: [../deploy/kubernetes]
patches:
  - target: { kind: StatefulSet, name: daypass }
    patch: |
      - { op: replace, path: /spec/volumeClaimTemplates/0/spec/resources/requests/storage, value: 8Gi }
`;
