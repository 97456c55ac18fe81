import { Command as Parser } from 'commander';
import { expect, it } from 'vitest';
import { Registry } from '#core/extension/registry.ts';

const declare = (name: string) => (parser: Parser) => {
  parser.command(name);
};

it('a plugin adds subcommands to a command of another, whichever registers first', () => {
  const registry = new Registry();
  registry.subcommands('orders', declare('export'));
  registry.command({ name: 'orders', define: declare('list') });
  registry.subcommands('orders', declare('month'));
  registry.subcommands('nowhere', declare('lost'));
  const parser = new Parser('orders');
  registry.commands.get('orders')?.define(parser, {} as never);
  expect(parser.commands.map((one) => one.name())).toEqual(['list', 'export', 'month']);
  expect([...registry.commands.keys()]).toEqual(['orders']);
});
