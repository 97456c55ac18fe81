/**
 * Checks that samples name only models that still exist: nothing that users read or copy may name a model that its vendor has ended. A
 * model that ends within 60 days is reported without failing. To check for another day: `node .ci/check-models.ts 2027-01-31`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelEnds } from '../core/config/catalog/model-ends.ts';
import { findEnding } from './model-ends.ts';

const root = join(import.meta.dirname, '..');
const [today = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);

const samples = [
  'README.md',
  'gateway.yaml',
  '.ci/configuration-example.yaml',
  'docs/{,configuration/,operating/}*.md',
  'deploy/**/*.{yaml,yml,json,env,service,md}',
  '{core,plugins}/**/*.{ts,eta,json,md}',
  'views/**/*.eta',
  'bench/**/*.ts',
  'test/screens/*.ts',
];
const knowing = ['plugins/upstream/vendors', 'core/config/catalog/model-ends.ts']; // these also name models that have ended

const files = globSync(samples, { cwd: root }).filter((file) => !knowing.some((folder) => file.startsWith(folder)));
const found = files
  .toSorted()
  .flatMap((file) => findEnding(readFileSync(join(root, file), 'utf8'), today).map((sample) => ({ file, ...sample })));
for (const { file, line, name, day, page, hasEnded } of found) {
  const text = `${file}:${line}: ${name} ${hasEnded ? 'ended' : 'ends'} on ${day}; name another model (${page})`;
  if (hasEnded) console.error(text);
  else console.log(text);
}
if (found.some(({ hasEnded }) => hasEnded)) process.exit(1);
console.log(
  `models: ${files.length} files with samples, ${modelEnds.size} models with an end, ${found.length} samples to renew`,
);
