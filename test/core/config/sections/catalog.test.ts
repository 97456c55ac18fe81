import { describe, expect, it } from 'vitest';
import { nameInReply, createPickerName } from '#core/config/catalog/model-name.ts';
import { buildCatalog, listCatalogNotices } from '#core/config/sections/build-catalog.ts';
import { splitRoute } from '#core/config/sections/models-section.ts';
import { formats, read, vendors } from '../fixture.ts';

const build = (text: string, environment?: NodeJS.ProcessEnv) =>
  buildCatalog(read(text, environment), vendors, formats);

const twoModels = 'models: { claude-sonnet: { routes: [one/a] }, gpt-6-sol: { routes: [one/b] } }\n';
const withAliases = (aliases: string) => build(`${twoModels}aliases: ${aliases}`);

const listed = (aliases: string) => withAliases(aliases).listed.map(({ name, model }) => [name, model.id]);

const halfOff =
  'upstreams: { one: { format: chat, base_url: "http://one.test" }, off: { vendor: openai } }\nmodels: { both: { routes: [off/a, one/a] }, gone: { routes: [off/a] } }\naliases: { lost: gone, "lost-*": gone }';

const upstream = (text: string, environment?: NodeJS.ProcessEnv) =>
  build(`upstreams: { one: ${text} }`, environment).upstreams[0];

describe('an upstream of the catalog', () => {
  it('has the preset of its vendor', () => {
    expect(upstream('{ vendor: anthropic, api_keys: [k] }')).toMatchObject({
      name: 'one',
      vendor: 'anthropic',
      formats: ['messages'],
      baseUrl: 'https://anthropic.test/v1',
      auth: 'x-api-key',
      headers: { 'anthropic-version': '2023-06-01' },
    });
  });

  it('overrides format, base URL and authentication of the vendor', () => {
    expect(upstream('{ vendor: anthropic, format: chat, base_url: "http://own.test/v2", auth: bearer }')).toMatchObject(
      { formats: ['chat'], baseUrl: 'http://own.test/v2', auth: 'bearer' },
    );
  });

  it('adds its headers to the vendor’s, in lower case', () => {
    expect(upstream('{ vendor: anthropic, headers: { Anthropic-Version: "2", X-Team: a } }')?.headers).toEqual({
      'anthropic-version': '2',
      'x-team': 'a',
    });
  });

  it('has a base URL without trailing slashes', () => {
    expect(upstream('{ format: chat, base_url: "http://own.test/v1//" }')?.baseUrl).toBe('http://own.test/v1');
  });

  it('sends bearer keys by default', () => {
    expect(upstream('{ format: chat, base_url: "http://own.test" }')?.auth).toBe('bearer');
  });

  it('has no empty keys', () => {
    expect(upstream('{ vendor: openai, api_keys: ["${A:-}", b] }')?.apiKeys).toEqual(['b']);
  });

  it.each([
    ['off when its vendor wants a key and there is none', '{ vendor: openai, api_keys: ["${KEY:-}"] }', false],
    ['on with a key', '{ vendor: openai, api_keys: [k] }', true],
    ['on without a key when it is nobody’s but the operator’s', '{ format: chat, base_url: "http://own.test" }', true],
    ['on without a key when its vendor wants none', '{ vendor: demo }', true],
    ['on without a key when it is told to send none', '{ vendor: openai, auth: none }', true],
  ])('is %s', (_name, text, isEnabled) => {
    expect(upstream(text)?.isEnabled).toBe(isEnabled);
  });
});

describe('a model of the catalog', () => {
  it('has its routes in the order of the file, with their options', () => {
    const { models } = build(
      'models: { test: { routes: [one/a, { to: one/org/b, weight: 2, connect_timeout: 1, first_byte_timeout: 2, idle_timeout: 3, max_input_tokens: 4 }] } }',
    );
    expect(models[0]?.routes).toMatchObject([
      { id: 'one/a', model: 'a', weight: 1, connectTimeout: undefined, upstream: { name: 'one' } },
      {
        id: 'one/org/b',
        model: 'org/b',
        weight: 2,
        connectTimeout: 1,
        firstByteTimeout: 2,
        idleTimeout: 3,
        maxInputTokens: 4,
      },
    ]);
  });

  it.each([
    ['the default prefix', '', 'dp/test'],
    ['the prefix of the service', 'service: { prefix: rumah }', 'rumah/test'],
    ['the prefix before a slash', 'models: { org/a: { routes: [one/a] } }', 'dp/org/a'],
  ])('has a public name with %s', (_name, text, publicName) => {
    expect(build(text).models[0]?.publicName).toBe(publicName);
  });

  it('has its name as its default display name', () => {
    expect(build('').models[0]?.displayName).toBe('test');
  });

  it('has a display name and limits', () => {
    const text = 'models: { test: { routes: [one/a], display_name: Test, max_input_tokens: 5, max_tokens: 6 } }';
    expect(build(text).models[0]).toMatchObject({ displayName: 'Test', maxInputTokens: 5, maxOutputTokens: 6 });
  });

  it('leaves out the routes of an upstream that is off', () => {
    expect(
      build(halfOff)
        .resolve('both')
        ?.routes.map(({ id }) => id),
    ).toEqual(['one/a']);
  });

  it.each(['gone', 'lost', 'lost-1'])('is not offered when all of its upstreams are off: %s', (name) => {
    expect(build(halfOff).resolve(name)).toBeUndefined();
  });

  it('has a notice when all of its upstreams are off', () => {
    expect(listCatalogNotices(build(halfOff))).toEqual([
      'upstream off is off: it has no API key; set one, or remove the upstream',
      'model gone is not offered: all of its upstreams are off; give it a route on another one, or remove the model',
    ]);
  });
});

describe('the name of a model', () => {
  it.each([
    ['a model by its name', '{}', 'gpt-6-sol', 'gpt-6-sol'],
    ['a model by its public name', '{}', 'dp/gpt-6-sol', 'gpt-6-sol'],
    ['a public name before a wildcard that fits it', '{ "dp/*": claude-sonnet }', 'dp/gpt-6-sol', 'gpt-6-sol'],
    ['an alias', '{ fast: gpt-6-sol }', 'fast', 'gpt-6-sol'],
    ['an alias of an alias', '{ fast: quick, quick: gpt-6-sol }', 'fast', 'gpt-6-sol'],
    ['a wildcard at the end', '{ "claude-*": claude-sonnet }', 'claude-haiku-4-5', 'claude-sonnet'],
    ['a wildcard that stands for nothing', '{ "claude-*": claude-sonnet }', 'claude-', 'claude-sonnet'],
    ['a wildcard at the beginning', '{ "*-mini": gpt-6-sol }', 'o3-mini', 'gpt-6-sol'],
    ['two wildcards', '{ "a*b*c": gpt-6-sol }', 'a-b-c', 'gpt-6-sol'],
    ['a wildcard for everything', '{ "*": gpt-6-sol }', 'anything at all', 'gpt-6-sol'],
    ['a wildcard by way of another alias', '{ "o*": fast, fast: gpt-6-sol }', 'o3', 'gpt-6-sol'],
    ['a model before a wildcard that fits it', '{ "gpt-*": claude-sonnet }', 'gpt-6-sol', 'gpt-6-sol'],
    ['an alias before a wildcard that fits it', '{ "o*": claude-sonnet, o3: gpt-6-sol }', 'o3', 'gpt-6-sol'],
    ['the first of two wildcards that fit', '{ "o*": claude-sonnet, "o3*": gpt-6-sol }', 'o3-mini', 'claude-sonnet'],
    ['an alias with the prefix', '{ fast: gpt-6-sol }', 'dp/fast', 'gpt-6-sol'],
    ['a wildcard with the prefix', '{ "claude-*": claude-sonnet }', 'dp/claude-haiku-4-5', 'claude-sonnet'],
    ['an alias with the prefix before a wildcard', '{ "*": claude-sonnet, fast: gpt-6-sol }', 'dp/fast', 'gpt-6-sol'],
    ['an alias called like a member of objects', '{ constructor: gpt-6-sol }', 'constructor', 'gpt-6-sol'],
  ])('resolves %s', (_name, aliases, name, id) => {
    expect(withAliases(aliases).resolve(name)?.id).toBe(id);
  });

  it.each([
    ['an unknown name', '{}', 'gpt-6'],
    ['another case', '{}', 'GPT-5'],
    ['a name with another prefix', '{}', 'xp/gpt-6-sol'],
    ['an alias with another prefix', '{ fast: gpt-6-sol }', 'xp/fast'],
    ['an alias with the prefix twice', '{ fast: gpt-6-sol }', 'dp/dp/fast'],
    ['a name that a wildcard only begins like', '{ "a*b": gpt-6-sol }', 'a-b-c'],
    ['a name that fits only if dots stood for anything', '{ "gpt-4.*": gpt-6-sol }', 'gpt-41'],
    ['a name too long to be one', '{ "*": gpt-6-sol }', 'x'.repeat(257)],
    ['a member of objects', '{}', 'constructor'],
  ])('does not resolve %s', (_name, aliases, name) => {
    expect(withAliases(aliases).resolve(name)).toBeUndefined();
  });

  it('resolves the same the second time', () => {
    const catalog = withAliases('{ "claude-*": claude-sonnet }');
    expect(catalog.resolve('claude-x')).toBe(catalog.resolve('claude-x'));
  });

  it('may be a member name of objects, resolved by its alias', () => {
    const catalog = build('models: { constructor: { routes: [one/a] } }\naliases: { fast: constructor }');
    expect(catalog.resolve('fast')?.id).toBe('constructor');
  });
});

describe('the list of models', () => {
  it('has the public names of the models, then the aliases', () => {
    expect(listed('{ fast: quick, quick: gpt-6-sol }')).toEqual([
      ['dp/claude-sonnet', 'claude-sonnet'],
      ['dp/gpt-6-sol', 'gpt-6-sol'],
      ['dp/fast', 'gpt-6-sol'],
      ['dp/quick', 'gpt-6-sol'],
    ]);
  });

  it('has no wildcards', () => {
    expect(listed('{ "claude-*": claude-sonnet }').map(([name]) => name)).toEqual(['dp/claude-sonnet', 'dp/gpt-6-sol']);
  });

  it('has no model whose upstreams are off, and no alias of one', () => {
    expect(build(halfOff).listed.map(({ name }) => name)).toEqual(['dp/both']);
  });
});

describe('a model whose upstreams are off', () => {
  it.each(['gone', 'dp/gone', 'lost', 'dp/lost', 'lost-1', 'dp/lost-1'])('is known by the name %s', (name) => {
    expect(build(halfOff).isUnavailable(name)).toBe(true);
  });

  it.each(['both', 'dp/both', 'other'])('is no other: %s', (name) => {
    expect(build(halfOff).isUnavailable(name)).toBe(false);
  });
});

describe('the list of Claude Code', () => {
  it.each([
    ['dp/claude-sonnet', 'claude-sonnet'],
    ['dp/gpt-6-sol', 'anthropic/dp/gpt-6-sol'],
    ['dp/fast', 'anthropic/dp/fast'],
  ])('has %s as %s, which leads to it', (name, picked) => {
    expect(createPickerName('dp', name)).toBe(picked);
    const catalog = withAliases('{ fast: gpt-6-sol, "anthropic/*": claude-sonnet }');
    expect(catalog.resolve(picked)).toBe(catalog.resolve(name));
  });
});

const kindOf = (section: string, model: string) =>
  build(`upstreams: { one: ${section} }\nmodels: { test: ${model} }`).models[0]?.kind;

describe('the kind of a model', () => {
  const base = 'base_url: "http://one.test"';

  it.each([
    ['as declared', `{ format: [chat, images], ${base} }`, '{ kind: image, routes: [one/a] }', 'image'],
    ['the only one that its upstream serves', `{ format: images, ${base} }`, '{ routes: [one/a] }', 'image'],
    ['chat where its upstream serves several', `{ format: [chat, images], ${base} }`, '{ routes: [one/a] }', 'chat'],
    ['chat without a preset for it', '{ vendor: openai, api_keys: [k] }', '{ routes: [one/a] }', 'chat'],
    [
      'as the preset says',
      `{ vendor: painting, format: [chat, images], api_keys: [k] }`,
      '{ routes: [one/dall-e-3] }',
      'image',
    ],
    [
      'not what its upstream does not serve',
      '{ vendor: painting, format: chat, api_keys: [k] }',
      '{ routes: [one/dall-e-3] }',
      'chat',
    ],
  ])('is %s', (_name, section, model, kind) => {
    expect(kindOf(section, model)).toBe(kind);
  });
});

describe('the name of a model in answers', () => {
  const model = { id: 'gpt-6-sol', publicName: 'dp/gpt-6-sol' };

  it.each([
    ['the public name for the short one', 'gpt-6-sol', 'dp/gpt-6-sol'],
    ['the public name for itself', 'dp/gpt-6-sol', 'dp/gpt-6-sol'],
    ['the alias for an alias', 'claude-fable-4', 'claude-fable-4'],
    ['the alias with the prefix for itself', 'dp/claude-fable-4', 'dp/claude-fable-4'],
  ])('is %s', (_name, requested, name) => {
    expect(nameInReply(model, requested)).toBe(name);
  });
});

describe('a suggestion', () => {
  it.each([
    ['gpt6-sol', 'dp/gpt-6-sol'],
    ['claude-sonet', 'dp/claude-sonnet'],
    ['dp/gpt6-sol', 'dp/gpt-6-sol'],
    ['openrouter/gpt-6-sol', 'dp/gpt-6-sol'],
    ['fsat', 'fast'],
  ])('for %s is %s', (name, near) => {
    expect(withAliases('{ fast: gpt-6-sol, "o*": gpt-6-sol }').suggest(name)).toBe(near);
  });

  it('is not made for a name without a similar one', () => {
    expect(withAliases('{ fast: gpt-6-sol }').suggest('mistral-large')).toBeUndefined();
  });

  it('is never a pattern', () => {
    expect(withAliases('{ "zz-*": gpt-6-sol }').suggest('zz-')).toBeUndefined();
  });
});

describe('a route', () => {
  it('shares what its profile says with all that have the same settings, and has a profile of its own', () => {
    const { models } =
      build(`upstreams: { one: { vendor: openai, api_keys: [k] }, two: { format: chat, base_url: "http://two.test" } }
models:
  a: { routes: [one/a, two/a] }
  b: { routes: [one/b, two/b] }
  blind: { routes: [{ to: two/c, capabilities: { images: false } }] }
  blind-too: { capabilities: { images: false }, routes: [two/d] }
  plain: { routes: [{ to: two/e, capabilities: { images: true } }] }`);
    const profiles = models.map(({ routes }) => routes.map(({ profile }) => profile));
    const quirks = profiles.map((some) => some.map((profile) => profile.quirks));
    const [a, b, [blind], [blindToo], [plain]] = quirks as [unknown[], unknown[], unknown[], unknown[], unknown[]];
    expect([a[0] === b[0], a[1] === b[1], blind === blindToo, blind === plain]).toEqual([true, true, true, false]);
    expect(new Set(profiles.flat()).size).toBe(7);
    expect([profiles[2]?.[0], profiles[4]?.[0]]).toMatchObject([
      { capabilities: { images: false } },
      { capabilities: { images: true } },
    ]);
  });

  it.each([
    ['openai/gpt-6-sol', ['openai', 'gpt-6-sol']],
    ['router/org/model', ['router', 'org/model']],
    ['openai', ['openai', '']],
  ])('%s is taken apart at its first slash', (to, parts) => {
    expect(splitRoute(to)).toEqual(parts);
  });
});
