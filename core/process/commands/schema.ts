import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command as Parser } from 'commander';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { assembleForCommand } from '#core/extension/assembly.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { composeSchema } from '#core/extension/validation/validate-config.ts';
import type { CoreCommandContext } from './context.ts';

export function defineSchema(parser: Parser, { file, log, print }: CoreCommandContext): void {
  parser
    .command('schema')
    .description('write the JSON Schema of the configuration next to it, for completion in editors')
    .option('-o, --output <file>', 'output file; - for stdout')
    .action(async ({ output }: { output?: string }) => {
      const document = await readDocumentLeniently(file());
      const { registry } = await assembleForCommand(document, log, () => {
        throw new Error('commands do not serve requests');
      });
      if (registry.loadMistakes.length > 0) printWarning(new ConfigError(registry.loadMistakes));
      const text = `${JSON.stringify(composeSchema(registry), null, 2)}\n`;
      const target = output ?? join(dirname(file()), 'gateway.schema.json');
      if (target === '-') {
        process.stdout.write(text);
        return;
      }
      await writeSchema(target, text);
      print(`${target} written`);
    });
}

async function readDocumentLeniently(file: string): Promise<GatewayDocument | undefined> {
  try {
    return await readDocument(file, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Completion helps most when a file has mistakes.
    printWarning(error);
    return undefined;
  }
}

function printWarning(error: ConfigError): void {
  console.error(`${error.message}\nnote: the schema does not cover plugins that could not be loaded`);
}

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
};

async function writeSchema(target: string, text: string): Promise<void> {
  try {
    await writeFile(target, text);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const reason = reasonsByCode[code] ?? code;
    throw new CommandFailed(`${target} cannot be written: ${reason}; choose another file with --output FILE`);
  }
}
