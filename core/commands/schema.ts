import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command as Parser } from 'commander';
import { assemble } from '../assembly.ts';
import { readDocument } from '../config/document.ts';
import { composeSchema } from '../config/load.ts';
import type { CoreCommandContext } from './context.ts';

export function defineSchema(parser: Parser, { file, log, print }: CoreCommandContext): void {
  parser
    .command('schema')
    .description('Writes the JSON Schema of the configuration beside it, so that editors complete every key.')
    .option('-o, --output <file>', 'where to write it; - for the terminal')
    .action(async ({ output }: { output?: string }) => {
      // A file with mistakes is when completion is wanted most: only its plugins matter here.
      const document = await readDocument(file(), process.env).catch(() => undefined);
      const { registry } = await assemble(document, log, () => {
        throw new Error('a command serves nothing');
      });
      const text = `${JSON.stringify(composeSchema(registry), null, 2)}\n`;
      const target = output ?? join(dirname(file()), 'gateway.schema.json');
      if (target === '-') return void process.stdout.write(text);
      await writeFile(target, text);
      print(`${target} has been written`);
    });
}
