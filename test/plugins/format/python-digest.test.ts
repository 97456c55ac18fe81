import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { play } from '../../honest/answers.ts';
import { textFormats } from '../../support/formats.ts';
import { recordings } from './replays/recordings.ts';

const program = 'docs/examples/answer-digest.py';
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** One process for all answers: the program's own function on each line. */
function byPython(answers: readonly string[]): unknown {
  const driver = `import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('answer_digest', '${program}')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps([module.digest(answer) for answer in json.load(sys.stdin)]))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', driver], { input: JSON.stringify(answers), maxBuffer: 1e8 });
  return stdout.length > 0 ? JSON.parse(stdout.toString()) : stderr.toString();
}

describe.runIf(hasPython)('the program in the documentation', () => {
  it('computes from each answer the digest on record', { timeout: 60_000 }, async () => {
    const bodies: string[] = [];
    const sent: (string | null)[] = [];
    for (const client of textFormats)
      for (const recording of recordings)
        for (const way of ['streamed', 'gathered'] as const) {
          if (recording.name === 'gemini/vertex-streamed-arguments' && client === 'gemini') continue;
          const answer = await play(client, recording, way, [recording.stream]);
          if (answer === undefined) continue;
          bodies.push(answer.body);
          sent.push(answer.digests.sent ?? null);
        }
    expect(byPython(bodies)).toEqual(sent);
  });
});
