import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { hasCommand, pathOf } from '../programs.ts';

/** The result of one command line of the editing helper. */
export interface HelperRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HelperProcess {
  run(words: readonly string[]): Promise<HelperRun>;
  stop(): void;
}

/** Each line of the standard input is a command line, and each line of the output what it did. */
const drivers = {
  node: `
    const answer = process.stdout.write.bind(process.stdout);
    let count = 0;
    async function run(words) {
      const run = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr']) process[name].write = (text) => ((run[name] += text), true);
      process.argv.splice(1, Infinity, ...words);
      process.exitCode = undefined;
      await import(words[0] + '?' + count++);
      while (process.exitCode === undefined) await new Promise(setImmediate);
      answer(JSON.stringify({ ...run, status: process.exitCode }) + '\\n');
      process.exitCode = 0;
    }
    const lines = require('readline').createInterface({ input: process.stdin });
    (async () => { for await (const line of lines) await run(JSON.parse(line)); })();
  `,
  python3: `
import io, json, os, runpy, sys
answer = sys.stdout
for line in sys.stdin:
    sys.argv = json.loads(line)
    sys.path[0] = os.path.dirname(sys.argv[0])
    sys.stdout, sys.stderr = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    try:
        status = runpy.run_path(sys.argv[0], run_name="__main__") and 0
    except SystemExit as end:
        status = end.code
    texts = [stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr)]
    print(json.dumps({"status": status, "stdout": texts[0], "stderr": texts[1]}), file=answer, flush=True)
`,
} as const;

export type HelperProgram = keyof typeof drivers;

/** One process that runs the helper's file anew for each command line, because to start one takes longer than what it does. */
export function startHelper(program: HelperProgram): HelperProcess {
  if (!hasCommand(program)) return { run: () => Promise.reject(new Error(`no ${program}`)), stop: () => undefined };
  const options = program === 'node' ? ['-e'] : ['-E', '-S', '-B', '-c'];
  const child = spawn(pathOf(program), [...options, drivers[program]], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(words) {
      child.stdin.write(`${JSON.stringify(words)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`${program} ended`);
      return JSON.parse(value) as HelperRun;
    },
    stop: () => void child.kill(),
  };
}
