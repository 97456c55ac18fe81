/** One word, one thing: no two exported types of core and plugins share a name. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const declaration = /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

const homes = new Map<string, string[]>();
for (const file of globSync('{core,plugins}/**/*.ts', { cwd: root }))
  for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(declaration))
    homes.set(name, [...(homes.get(name) ?? []), file]);

const shared = [...homes].filter(([, files]) => files.length > 1);
for (const [name, files] of shared) console.error(`type ${name} is exported by ${files.join(' and ')}`);
if (shared.length > 0) process.exit(1);
console.log(`names: ${homes.size} exported types, each in one file`);
