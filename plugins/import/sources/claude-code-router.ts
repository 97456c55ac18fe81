import type { ImportDraft, Reference } from '../draft.ts';
import { endpointAt, type Vendors } from '../endpoints.ts';
import { ImportedObject, type Reasons } from '../members.ts';
import type { ImportSource } from '../source.ts';

/** ~/.claude-code-router/config.json. Source: musistudio/claude-code-router, README.md, "Configuration". */
export const claudeCodeRouter: ImportSource = {
  name: 'claude-code-router',
  title: 'Claude Code Router',
  file: 'its config.json',
  readConfiguration(value, draft, vendors) {
    const root = new ImportedObject(value, '', draft);
    const providers = [...root.list('Providers').entries(), ...root.list('providers').entries()];
    // Keys have the router's form `provider,model`.
    const known = new Map<string, string>();
    for (const [index, entry] of providers) readProvider(entry, `Providers[${index}]`, known, draft, vendors);
    readRouter(root.members('Router'), known, draft);
    root.finish(rootReasons);
  },
};

function readProvider(
  entry: unknown,
  path: string,
  known: Map<string, string>,
  draft: ImportDraft,
  vendors: Vendors,
): void {
  const provider = new ImportedObject(entry, path, draft);
  const name = provider.text('name') ?? 'provider';
  const url = provider.text('api_base_url') ?? provider.text('baseUrl') ?? '';
  const key = provider.text('api_key') ?? provider.text('apiKey');
  const models = provider.list('models');
  const transformer = provider.members('transformer');
  const used = transformers(transformer?.take('use'));
  provider.finish();
  const foreign = used.find((one) => loginTransformers.has(one));
  if (foreign !== undefined)
    return draft.note(transformer?.at('use') ?? path, `"${foreign}" uses the login of another tool, not a key`);
  const endpoint = endpointAt(url, formatOf(used, url), vendors);
  if (endpoint === undefined) return draft.note(provider.at('api_base_url'), 'is not a URL that an upstream can have');
  const isKeyless = key === undefined || vendors.get(endpoint.vendor ?? '')?.auth === 'none';
  const upstream = draft.addUpstream(name, {
    ...endpoint,
    keys: isKeyless ? [] : [keyOf(key, name, provider.at('api_key'), draft)],
    ...(key === undefined && endpoint.vendor === undefined && { auth: 'none' }),
    from: `${path}: ${name}`,
  });
  if (transformer !== undefined) noteTransformers(transformer, used, models, draft);
  for (const [index, listed] of models.entries()) {
    const model = String(listed).trim();
    draft.addModel(`${path}.models[${index}]`, { name: model, routes: [{ upstream, model, priority: index }] });
    known.set(`${name},${model}`, model);
  }
}

/** Reads the names in `use`, where each is a string or a list of the name and its options. */
function transformers(use: unknown): string[] {
  if (!Array.isArray(use)) return [];
  return use.map((one: unknown) => String(Array.isArray(one) ? one[0] : one));
}

function formatOf(used: readonly string[], url: string): 'chat' | 'messages' | 'gemini' {
  if (used.some((one) => one.toLowerCase() === 'anthropic') || /\/messages\/*$/.test(url)) return 'messages';
  return used.includes('gemini') ? 'gemini' : 'chat';
}

const loginTransformers = new Set(['gemini-cli', 'qwen-cli', 'rovo-cli', 'vertex-gemini', 'vertex-claude']);

/** Transformers that presets and translation make unnecessary. */
const automatic = new Set([
  'anthropic',
  'deepseek',
  'gemini',
  'openrouter',
  'groq',
  'reasoning',
  'tooluse',
  'enhancetool',
  'cleancache',
  'openai',
  'streamoptions',
  'maxcompletiontokens',
]);

const transformerReasons: Reasons = {
  maxtoken: 'sets max_tokens of requests: see `quirks.max_output_tokens` of a model, which lowers it',
  sampling: 'sets temperature and the like: requests get no defaults here',
  customparams: 'adds members to requests: that is not possible here',
};

function noteTransformers(
  transformer: ImportedObject,
  used: readonly string[],
  models: readonly unknown[],
  draft: ImportDraft,
): void {
  const noteAll = (names: readonly string[], path: string) => {
    for (const name of names.filter((candidate) => !automatic.has(candidate.toLowerCase())))
      draft.note(
        path,
        transformerReasons[name.toLowerCase()] ?? `the transformer "${name.slice(0, 40)}" has no counterpart here`,
      );
  };
  noteAll(used, transformer.at('use'));
  for (const model of models) {
    const own = transformer.members(String(model));
    if (own !== undefined) noteAll(transformers(own.take('use')), own.at('use'));
  }
  transformer.finish();
}

/** Adds a provider's key. Like the router, treats `$NAME` and `${NAME}` as variables. */
function keyOf(key: string, name: string, path: string, draft: ImportDraft): Reference {
  const [, plain, braced] = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/.exec(key) ?? [];
  const variable = plain ?? braced;
  if (variable !== undefined) return draft.addVariable(variable, path);
  return draft.addSecret(`${name}_API_KEY`, key, path);
}

/** Imports the router's rules as aliases of Anthropic's model names, which Claude Code requests. */
function readRouter(router: ImportedObject | undefined, known: ReadonlyMap<string, string>, draft: ImportDraft): void {
  if (router === undefined) return;
  const targetOf = (name: string) => {
    const written = router.text(name);
    if (written === undefined) return undefined;
    const words = written.split(',').map((word) => word.trim());
    const model = known.get(words.join(','));
    if (model === undefined) draft.note(router.at(name), 'names no model of the list');
    return model;
  };
  const [main, background] = [targetOf('default'), targetOf('background')];
  // The first matching alias is used.
  if (background !== undefined) draft.addAlias(router.at('background'), 'claude-*haiku*', background);
  if (main !== undefined) draft.addAlias(router.at('default'), 'claude-*', main);
  router.finish(routerReasons);
}

const byContent = 'models are not chosen by what a request contains here: clients name them';

const routerReasons: Reasons = {
  think: byContent,
  longContext: `${byContent}; prompts too long for a route go to those with a larger \`max_input_tokens\``,
  longContextThreshold: byContent,
  webSearch: byContent,
  image: byContent,
};

const rootReasons: Reasons = {
  APIKEY: 'each account has a key of its own: daypass key create --name NAME',
  HOST: 'set `listen.host`, or HOST in the environment',
  PORT: 'set `listen.port`, or PORT in the environment',
  PROXY_URL: 'requests to upstreams use no proxy',
  API_TIMEOUT_MS: 'see the timeouts of the stage upstream',
  NON_INTERACTIVE_MODE: '',
  LOG: '',
  LOG_LEVEL: '',
  StatusLine: '',
  CLAUDE_PATH: '',
  CUSTOM_ROUTER_PATH: 'programs of its own for choosing models are not run here',
  transformers: 'transformers of its own are not run here',
  plugins: 'its plugins are not run here',
  Presets: 'presets are not read: install them there, and import the file that results',
  fallback: 'list further routes of a model: they are its backups',
};
