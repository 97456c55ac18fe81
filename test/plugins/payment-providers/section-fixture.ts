import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { CheckContext, Section } from '#core/config/section.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { providerOf } from './fixture.ts';

/** Mistakes that a provider finds when gateway.yaml selects it. */
export async function mistakesOf(plugin: GatewayPlugin, settings: object, isProduction = false, isValid = true) {
  const provider = await providerOf(plugin);
  const host = createTestHost({ sections: { [provider.name]: settings } });
  const found: string[] = [];
  const production = isProduction ? { because: 'in a test', unless: '' } : undefined;
  const context = { get: host.section, isValid: () => isValid, isProduction, production } as unknown as CheckContext;
  const report = (path: readonly (string | number)[], wrong: string) => void found.push(`${path.join('.')} ${wrong}`);
  provider.check?.(context, report);
  return found;
}

/** What holds for every provider and its section. @param secrets its secret members @param longest characters of one */
export function describeProvider(
  plugin: GatewayPlugin,
  section: Section,
  secrets: readonly string[],
  longest: number,
): void {
  describe(`the section ${section.name}`, () => {
    const isValid = new Ajv({ strict: false }).compile(section.schema);

    it('marks its secrets, which are then shown nowhere', () => {
      const properties = Object.entries(section.schema.properties as Readonly<Record<string, JsonSchema>>);
      expect(properties.filter(([, { writeOnly }]) => writeOnly === true).map(([name]) => name)).toEqual(secrets);
    });

    it.each(secrets)('takes %s as providers write it, and no text with a space or without end', (name) => {
      expect(isValid({ [name]: `Mid_server-${'x'.repeat(longest - 11)}` })).toBe(true);
      expect(isValid({ [name]: 'x'.repeat(longest + 1) })).toBe(false);
      expect(isValid({ [name]: 'a b' })).toBe(false);
    });

    it('has no member that nobody reads', () => {
      expect(isValid({ serverkey: 'x' })).toBe(false);
    });

    it('takes another origin of the API for tests only', () => {
      const settings = { base_url: 'http://127.0.0.1:9' };
      const found = (production?: object) => {
        const paths: string[] = [];
        const report = (path: readonly (string | number)[]) => void paths.push(path.join('.'));
        section.check?.(settings as never, report, { production } as unknown as CheckContext);
        return paths;
      };
      expect(found()).toEqual([]);
      expect(found({ because: 'in a test', unless: '' })).toEqual([`${section.name}.base_url`]);
    });

    it('declares what a QRIS payment may cost', async () => {
      expect(await providerOf(plugin)).toMatchObject({ currencies: ['IDR'], amounts: { least: 1, most: 10_000_000 } });
    });

    it('misses nothing while the section itself is malformed', async () => {
      expect(await mistakesOf(plugin, {}, false, false)).toEqual([]);
    });
  });
}
