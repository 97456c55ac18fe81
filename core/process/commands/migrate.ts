import type { Command as Parser } from 'commander';
import type { CoreCommandContext } from './context.ts';

export function defineMigrate(parser: Parser, { print, withHost }: CoreCommandContext): void {
  parser
    .command('migrate')
    .description(
      'apply pending migrations, including those of plugins, and list all applied ones; safe to run concurrently',
    )
    .action(async () => {
      const rows = await withHost(({ database }) =>
        database.query<{ name: string }>('SELECT name FROM migration ORDER BY id'),
      );
      for (const { name } of rows) print(name);
      print('the database is up to date');
    });
}
