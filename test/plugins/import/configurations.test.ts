import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../../support/command-line.ts';

const files = join(import.meta.dirname, 'files');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-import-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Imported {
  readonly code: number;
  readonly yaml: string;
  readonly errors: string;
  readonly upstreams: Record<string, Record<string, unknown>>;
  readonly models: Record<string, { readonly routes: readonly unknown[] }>;
  readonly aliases: Record<string, string>;
}

/** Imports a file of the folder beside this one, or one with this text. */
async function importFile(from: string, file: string, text?: string, ...options: readonly string[]): Promise<Imported> {
  const path = text === undefined ? join(files, file) : join(folder, file);
  if (text !== undefined) await writeFile(path, text);
  const { code, out: yaml, errors } = await runCommand(['import', '--from', from, path, ...options]);
  return { code, yaml, errors, ...(parse(yaml) as Pick<Imported, 'upstreams' | 'models' | 'aliases'> | null)! };
}

/** What `daypass check` says about a text. */
async function check(yaml: string, environment: Record<string, string> = {}) {
  const path = join(folder, 'gateway.yaml');
  await writeFile(path, yaml);
  return runCommand(['--config', path, 'check'], { BASE_URL: '', ...environment });
}

const all = [
  ['litellm', 'litellm.yaml'],
  ['claude-code-router', 'claude-code-router.json'],
  ['new-api', 'new-api-channels.json'],
  ['sub2api', 'sub2api-accounts.json'],
] as const;

describe.each(all)('a file of %s', (from, file) => {
  it('becomes a gateway.yaml that is valid at once, without any variable', async () => {
    const { code, yaml, upstreams } = await importFile(from, file);
    expect({ code, count: Object.keys(upstreams).length > 0 }).toEqual({ code: 0, count: true });
    expect(await check(yaml)).toMatchObject({ code: 0, errors: '' });
  });

  it('becomes a gateway.yaml whose models are served once the variables are set', async () => {
    const { yaml, models } = await importFile(from, file);
    const names = [...yaml.matchAll(/\$\{([A-Z_]\w*):-/g)].map(([, name]) => String(name));
    const values = names.map((name) => [name, /BASE|URL/.test(name) ? 'https://llm.example.com' : `k-${name}`]);
    const { out, code } = await check(yaml, { ...Object.fromEntries(values), PORT: '', BASE_URL: '', HOST: '' });
    expect(code).toBe(0);
    expect(out).not.toMatch(/^note: upstream \S+ is off/m);
    for (const name of Object.keys(models)) expect(out).toContain(`\n  ${name} `);
  });

  it('shows no secret of the file, on either output', async () => {
    const { yaml, errors } = await importFile(from, file);
    expect(`${yaml}${errors}`).not.toMatch(/[\w-]+-secret/);
  });

  it('reports what was not imported both as comments and outside of the output', async () => {
    const { yaml, errors } = await importFile(from, file);
    const [, listed = ''] = /Not imported:\n((?: {2}.*\n)+)/.exec(errors) ?? [];
    const lines = listed
      .trimEnd()
      .split('\n')
      .map((line) => line.trim());
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => !yaml.includes(`#   ${line}\n`))).toEqual([]);
  });
});

describe('config.yaml of LiteLLM', () => {
  it('becomes upstreams by endpoint and key, with presets of vendors', async () => {
    const { upstreams } = await importFile('litellm', 'litellm.yaml');
    expect(upstreams).toMatchObject({
      azure: {
        vendor: 'azure-openai',
        base_url: 'https://shop-eu.openai.azure.com/openai/v1',
        api_keys: ['${AZURE_EU_KEY:-}'],
        capacity: { requests: 600 },
      },
      openai: { vendor: 'openai', api_keys: ['${OPENAI_API_KEY:-}'] },
      'openai-2': { vendor: 'openai', api_keys: ['${OPENAI_API_KEY_2:-}'] },
      anthropic: { vendor: 'anthropic', api_keys: ['${ANTHROPIC_API_KEY:-}'] },
      bedrock: { vendor: 'bedrock-anthropic', credentials: { aws: { region: 'us-east-1' } } },
      vertex: { vendor: 'vertex', credentials: { google: { key_file: '/etc/keys/google.json' } } },
      'ollama-chat': { vendor: 'ollama', base_url: 'http://10.0.0.5:11434/v1' },
    });
    expect(upstreams['ollama-chat']).not.toHaveProperty('api_keys');
    expect(Object.values(upstreams)).toContainEqual({
      format: 'chat',
      base_url: '${LLAMA_BASE:-https://llama-base.invalid}',
      api_keys: ['${LLAMA_KEY:-}'],
      capacity: { concurrent: 8 },
    });
  });

  it('becomes models with deployments in their order and shares, and fallbacks as the last routes', async () => {
    const { models } = await importFile('litellm', 'litellm.yaml');
    expect(models['gpt-5']?.routes).toEqual([
      { to: 'azure/gpt-5-eu', priority: 0, weight: 1 },
      { to: 'openai/gpt-5', priority: 1, weight: 2 },
      { to: 'openai-2/gpt-5', priority: 1, weight: 1 },
      { to: 'anthropic/claude-sonnet-5', priority: 2, weight: 1 },
      { to: 'bedrock/us.anthropic.claude-sonnet-5-v1:0', priority: 2, weight: 1 },
      { to: 'vertex/gemini-3-pro', priority: 3, weight: 1 },
      { to: 'gemini/gemini-3-flash', priority: 4, weight: 1 },
    ]);
    expect(models['claude-sonnet']).toMatchObject({ max_input_tokens: 200_000, max_tokens: 64_000 });
    expect(models['embed']).toEqual({ kind: 'embedding', routes: ['openai/text-embedding-3-small'] });
    expect(Object.keys(models)).not.toContain('watson');
  });

  it('becomes aliases, and notes those of models that were not taken over', async () => {
    const { aliases, errors } = await importFile('litellm', 'litellm.yaml');
    expect(aliases).toEqual({ 'gpt-4': 'gpt-5', hidden: 'claude-sonnet' });
    expect(errors).toContain('router_settings.model_group_alias.gone: its model "watson" was not imported');
  });

  it('gives every setting that has no counterpart a reason', async () => {
    const { errors } = await importFile('litellm', 'litellm.yaml');
    expect(errors).not.toContain('is not known to this import');
    for (const path of [
      'model_list[10].litellm_params.model: "watsonx" has no preset here',
      'model_list[11].litellm_params.model: model names cannot contain *',
      'model_list[0].litellm_params.api_version: the v1 API of Azure',
      'router_settings.routing_strategy: routes of the same priority',
      'litellm_settings.context_window_fallbacks: set `max_input_tokens`',
      'general_settings.master_key: operators have their own tokens',
    ])
      expect(errors).toContain(path);
  });

  it('notes a member that this import does not know, by its path', async () => {
    const text =
      'model_list: [{ model_name: a, litellm_params: { model: openai/a, api_key: k, invented: 1 } }]\nnew_settings: { x: 1 }\n';
    const { errors } = await importFile('litellm', 'c.yaml', text);
    expect(errors).toContain('model_list[0].litellm_params.invented, new_settings: is not known to this import');
  });
});

/** A deployment of LiteLLM's configuration. */
const deployment = (name: string, parameters: string) =>
  `  - { model_name: ${name}, litellm_params: { model: openai/${name}, ${parameters} } }\n`;

describe('variables', () => {
  it('that the file names below a secret are not the one of the secret', async () => {
    const text = `model_list:\n${deployment('a', 'api_key: sk-one')}${deployment('b', 'api_key: os.environ/OPENAI_API_KEY')}`;
    const { upstreams } = await importFile('litellm', 'c.yaml', text);
    expect(upstreams).toMatchObject({
      openai: { api_keys: ['${OPENAI_API_KEY_2:-}'] },
      'openai-2': { api_keys: ['${OPENAI_API_KEY:-}'] },
    });
  });

  it('of gateway.yaml itself, headers that cannot be sent and models without a name are noted', async () => {
    const text = `model_list:\n${deployment('a', 'api_base: os.environ/BASE_URL, extra_headers: { "x: y": z, Connection: close }')}${deployment('', 'api_key: k')}`;
    const { yaml, errors } = await importFile('litellm', 'c.yaml', text);
    expect(errors).toContain('litellm_params.api_base: BASE_URL is used by gateway.yaml itself');
    expect(errors).toMatch(/extra_headers\.x: y, .*extra_headers\.Connection: is not an allowed upstream header/);
    expect(errors).not.toContain('(model_list[0].litellm_params.extra_headers');
    expect((await check(yaml)).code).toBe(0);
  });

  it('with the URL of an endpoint are listed as well', async () => {
    const { errors } = await importFile('litellm', 'litellm.yaml');
    expect(errors).toMatch(/^ {2}LLAMA_BASE {2}\(model_list\[\d+\]\.litellm_params\.api_base\)$/m);
  });

  it('are not made of texts of the file, and one stands for a key that is there twice', async () => {
    const channel = { type: 1, status: 1, key: 'k1\nk2\nk1', name: 'c', models: 'm', model_mapping: '{"m":"${HOME}"}' };
    const { yaml, upstreams } = await importFile('new-api', 'c.json', JSON.stringify([channel]));
    expect(yaml).toContain('"c/$${HOME}"');
    expect(upstreams['c']?.['api_keys']).toEqual(['${C_API_KEY:-}', '${C_API_KEY_2:-}']);
    expect((await check(yaml, { C_API_KEY: 'k1', C_API_KEY_2: 'k2' })).errors).toBe('');
  });
});

describe('config.json of claude-code-router', () => {
  it('becomes upstreams with the formats of its transformers', async () => {
    const { upstreams, models } = await importFile('claude-code-router', 'claude-code-router.json');
    expect(upstreams).toEqual({
      openrouter: { vendor: 'openrouter', api_keys: ['${OPENROUTER_API_KEY:-}'] },
      deepseek: { vendor: 'deepseek', base_url: 'https://api.deepseek.com', api_keys: ['${DEEPSEEK_API_KEY:-}'] },
      ollama: { format: 'chat', base_url: 'http://localhost:11434/v1', api_keys: ['${OLLAMA_API_KEY:-}'] },
      gemini: { vendor: 'gemini', api_keys: ['${GEMINI_API_KEY:-}'] },
      'zhipu-cn': {
        vendor: 'zhipu-anthropic',
        base_url: 'https://open.bigmodel.cn/api/anthropic/v1',
        api_keys: ['${ZHIPU_CN_API_KEY:-}'],
      },
    });
    expect(models['google/gemini-2.5-pro-preview']?.routes).toEqual(['openrouter/google/gemini-2.5-pro-preview']);
  });

  it('becomes aliases for the models that Claude Code names, and notes what depends on contents', async () => {
    const { aliases, errors } = await importFile('claude-code-router', 'claude-code-router.json');
    expect(Object.entries(aliases)).toEqual([
      ['claude-*haiku*', 'qwen2.5-coder:latest'],
      ['claude-*', 'deepseek-chat'],
    ]);
    expect(errors).toMatch(/Router\.think.*: Daypass does not choose models by the content of requests/);
    expect(errors).toContain('"qwen-cli" uses the login of another tool');
    expect(errors).toContain('sets max_tokens of requests');
    expect(errors).not.toContain('is not known to this import');
  });
});

describe('channels of new-api', () => {
  it('become upstreams with the keys that are in use', async () => {
    const { upstreams } = await importFile('new-api', 'new-api-channels.json');
    expect(upstreams).toEqual({
      'openai-main': { vendor: 'openai', api_keys: ['${OPENAI_MAIN_API_KEY:-}', '${OPENAI_MAIN_API_KEY_2:-}'] },
      relay: { format: 'chat', base_url: 'https://relay.example.com/v1', api_keys: ['${RELAY_API_KEY:-}'] },
      claude: { vendor: 'anthropic', api_keys: ['${CLAUDE_API_KEY:-}'] },
      'glm-plan': {
        vendor: 'zhipu',
        base_url: 'https://api.z.ai/api/coding/paas/v4',
        api_keys: ['${GLM_PLAN_API_KEY:-}'],
      },
      gemini: { vendor: 'gemini', api_keys: ['${GEMINI_API_KEY:-}'] },
      azure: {
        vendor: 'azure-openai',
        base_url: 'https://shop.openai.azure.com/openai/v1',
        api_keys: ['${AZURE_API_KEY:-}'],
      },
    });
  });

  it('become routes by priority and weight, with mapped names', async () => {
    const { models } = await importFile('new-api', 'new-api-channels.json');
    expect(models['gpt-5']?.routes).toEqual([
      { to: 'openai-main/gpt-5', priority: 0, weight: 3 },
      { to: 'relay/gpt-5', priority: 0, weight: 1 },
      { to: 'azure/gpt-5', priority: 1, weight: 0 },
    ]);
    expect(models['gpt-5-mini']?.routes).toEqual(['openai-main/gpt-5-mini-2026']);
    expect(Object.keys(models)).not.toContain('deepseek-chat');
  });

  it('are read from CSV as well', async () => {
    const csv =
      'id,type,key,status,name,weight,base_url,models,group,model_mapping,priority\r\n1,14,"k-secret",1,"Claude, main",0,NULL,"claude-sonnet-5,claude-opus-5",default,"{""claude-opus-5"":""claude-opus-5-1""}",0\r\n';
    const { upstreams, models, errors } = await importFile('new-api', 'channels.csv', csv);
    expect(errors).not.toContain('Not taken over');
    expect(upstreams).toEqual({ 'claude-main': { vendor: 'anthropic', api_keys: ['${CLAUDE_MAIN_API_KEY:-}'] } });
    expect(models['claude-opus-5']?.routes).toEqual(['claude-main/claude-opus-5-1']);
  });
});

describe('accounts of sub2api', () => {
  it('with API keys become upstreams, and logins of subscriptions do not', async () => {
    const { upstreams, models, errors } = await importFile('sub2api', 'sub2api-accounts.json');
    expect(upstreams).toEqual({
      'anthropic-key': { vendor: 'anthropic', api_keys: ['${ANTHROPIC_KEY_API_KEY:-}'], capacity: { concurrent: 10 } },
      relay: {
        format: 'messages',
        base_url: 'https://relay.example.com/claude/v1',
        auth: 'x-api-key',
        api_keys: ['${RELAY_API_KEY:-}'],
        capacity: { concurrent: 3 },
      },
      'openai-key': { vendor: 'openai', api_keys: ['${OPENAI_KEY_API_KEY:-}'] },
    });
    expect(models['claude-sonnet-5']?.routes).toEqual(['anthropic-key/claude-sonnet-5', 'relay/claude-sonnet-5']);
    expect(errors).toContain('accounts[3].type: a subscription login: Daypass uses only API keys');
    expect(errors).toContain('accounts[2]: lists no models');
  });
});

describe('hostile and broken files', () => {
  it.each([
    [
      'litellm',
      'model_list:\n  - model_name: a\n    litellm_params: [x]\n',
      /: line 3: model_list\[0\]\.litellm_params is a list, but must be an object/,
    ],
    ['litellm', 'model_list: "all"\n', /: line 1: model_list is a text, but must be a list/],
    ['litellm', 'model_list: [\n  { model_name: "a }\n', /: line \d+, column \d+: is not valid YAML/],
    ['claude-code-router', '{\n  "Providers": [,]\n}', /: line 2, column \d+: is not valid JSON/],
    ['claude-code-router', '{ "Providers": [1] }', /: line 1: Providers\[0\] is a number, but must be an object/],
    [
      'new-api',
      '{ "success": true }',
      /has no list: expected a list of rows, or an object with a list under "channels"/,
    ],
    ['new-api', 'id,name\n1\n', /: line 2: has 1 fields, but the first line has 2/],
    ['new-api', 'id,name\n1,"x\n', /: line 2: a quote is missing/],
    ['new-api', '[{ "type": { "a": 1 }, "models": "x" }]', /\[0\]\.type is an object, but must be a number/],
    ['sub2api', '', /: is empty/],
    ['sub2api', `${'['.repeat(200_000)}`, /: (?:is nested too deeply|line \d+, column \d+: is not valid JSON)/],
    [
      'litellm',
      `a: &a [${'x,'.repeat(99)}x]\n${Array.from(
        { length: 6 },
        (_, index) =>
          `b${index}: &b${index} [${Array(60)
            .fill(index === 0 ? '*a' : `*b${index - 1}`)
            .join(',')}]`,
      ).join('\n')}\n`,
      /: has more aliases/,
    ],
  ])('of %s end with a reason that says where: %#', async (from, text, reason) => {
    const { code, out, errors } = await (async () => {
      await writeFile(join(folder, 'file'), text);
      return runCommand(['import', '--from', from, join(folder, 'file')]);
    })();
    expect([code, out]).toEqual([78, '']);
    expect(errors).toMatch(reason);
  });

  it('that are missing, folders or too large are not read', async () => {
    for (const name of ['nothing', '']) {
      const { code, errors } = await runCommand(['import', '--from', 'litellm', join(folder, name)]);
      expect(code).toBe(78);
      expect(errors).toMatch(/cannot be read \(ENOENT\)|is not a file/);
    }
  });

  it('with variables, comments, keys of prototypes and 90 characters in their texts stay texts, and valid', async () => {
    const name = `${'n'.repeat(90)}`;
    const text = JSON.stringify([
      {
        type: 1,
        status: 1,
        key: 'k1',
        name: '"${HOME}"\n# x: y',
        models: `a\${HOME}b,${name},-x,a b,dp/y`,
        base_url: 'https://h.example/${HOME}',
      },
      { type: 1, status: 1, key: 'k2', name: '__proto__', models: '__proto__,constructor,a: b', __proto__: { x: 1 } },
      {
        type: 1,
        status: 1,
        key: 'k3',
        name: 'on',
        models: 'true,null,1.5,0x1F,2026-01-01',
        base_url: 'https://[::1]:8443',
      },
      { type: 1, status: 1, key: 'k4', name: '...', models: 'm', base_url: 'file:///etc/passwd' },
    ]);
    const { code, yaml, models, errors } = await importFile('new-api', 'hostile.json', text);
    expect([code, (await check(yaml)).errors]).toEqual([0, '']);
    expect(Object.keys(models)).toEqual(expect.arrayContaining(['1.5', '0x1F', '2026-01-01', 'true', 'null']));
    expect(errors).toContain('its base_url is not a valid upstream URL');
  });

  it('with thousands of models are converted in a time that grows with their number only', async () => {
    const models = Array.from({ length: 150 }, (_, index) => `model-${index}`).join(',');
    const channels = (count: number) =>
      Array.from({ length: count }, (_, id) => ({
        id,
        type: 1,
        status: 1,
        key: `k${id}`,
        name: `c${id}`,
        models,
        priority: id % 5,
      }));
    /** Ms of this thread for so many channels. */
    const cost = async (count: number) => {
      const text = JSON.stringify(channels(count));
      const before = process.threadCpuUsage();
      const { code, models: made } = await importFile('new-api', 'large.json', text);
      const { user } = process.threadCpuUsage(before);
      expect([code, Object.keys(made).length, made['model-7']?.routes.length]).toEqual([0, 150, count]);
      return user / 1000;
    };
    const once = await cost(40);
    // What grows by the square takes four times as long.
    expect(await cost(80)).toBeLessThan(3 * once + 300);
  });
});

describe('--env-file', () => {
  it('writes the secrets into a new file for its owner alone, and the gateway reads them', async () => {
    const path = join(folder, '.env');
    const { code, yaml } = await importFile('new-api', 'new-api-channels.json', undefined, '--env-file', path);
    const written = await readFile(path, 'utf8');
    expect([code, (await stat(path)).mode & 0o777]).toEqual([0, 0o600]);
    expect(written).toContain("OPENAI_MAIN_API_KEY='sk-one-secret'\n");
    expect(written).not.toContain('sk-two-secret');
    expect((await check(yaml)).out).not.toMatch(/^note: upstream/m);
  });

  it('replaces no file', async () => {
    await writeFile(join(folder, '.env'), 'KEEP=1\n');
    const { code, errors } = await importFile('litellm', 'litellm.yaml', undefined, '--env-file', join(folder, '.env'));
    expect(code).toBe(1);
    expect(errors).toContain('already exists');
    expect(await readFile(join(folder, '.env'), 'utf8')).toBe('KEEP=1\n');
  });
});
