import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'vite';
import type { MutatedFolder } from './folders.ts';

/** Tests that run the gateway as a process, and so reach files that they do not import. */
const startsProcess = /spawn|fork\(|openGatewayHome|execFile/;

/** Which of a folder's tests can reach a file: by imports, direct or not, or by a process. */
export class Covering {
  readonly #root: string;
  /** Imported by their paths, by what loads a gateway. */
  readonly #plugins: readonly string[];
  readonly #imports = new Map<string, readonly string[]>();
  readonly #reachable = new Map<string, ReadonlySet<string>>();

  constructor(root: string) {
    this.#root = root;
    this.#plugins = globSync('plugins/*/index.ts', { cwd: root });
  }

  /** All tests of a folder. */
  testsOf({ tests }: MutatedFolder): readonly string[] {
    return globSync('test/**/*.test.ts', { cwd: this.#root })
      .filter((file) => tests.some((beginning) => file.startsWith(beginning)))
      .toSorted();
  }

  testsThatReach(file: string, tests: readonly string[]): readonly string[] {
    return tests.filter((test) => this.#reach(test).has(file) || startsProcess.test(this.#read(test)));
  }

  #reach(test: string): ReadonlySet<string> {
    const known = this.#reachable.get(test);
    if (known !== undefined) return known;
    const reached = new Set([test]);
    for (const file of reached) for (const imported of this.#importsOf(file)) reached.add(imported);
    this.#reachable.set(test, reached);
    return reached;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const source = this.#read(file);
    const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
    const dynamic = dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start, end));
    const requests = [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? '')),
      ...dynamic.map((request) => request.slice(1, -1)),
    ];
    const imported = requests.map((request) => locate(file, request)).filter((path) => this.#isSource(path));
    if (dynamic.some((request) => request.includes('('))) imported.push(...this.#plugins);
    this.#imports.set(file, imported);
    return imported;
  }

  #isSource(path: string): boolean {
    return path.endsWith('.ts') && existsSync(join(this.#root, path));
  }

  #read(file: string): string {
    return readFileSync(join(this.#root, file), 'utf8');
  }
}

/** The path of an imported file, from the root; that of a package is not a file. */
function locate(file: string, request: string): string {
  if (request.startsWith('#core/')) return request.slice(1);
  return request.startsWith('.') ? normalize(join(dirname(file), request)) : request;
}
