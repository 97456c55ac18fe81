import type { SetupModel, SetupValues } from './values.ts';

type Value = string | number | boolean | undefined;

interface TemplateValues {
  readonly named: Readonly<Record<string, Value>>;
  readonly models: readonly Readonly<Record<string, Value>>[]; // overrides of `named`, one for each different model
}

const eachModel = '<each model>';

/**
 * The head of tools.yaml describes the notation.
 *
 * @throws Error for a value that does not exist
 */
export function fillTemplate<T>(template: T, values: SetupValues, prompt = ''): T {
  return fill(template, { named: { ...nameValues(values), prompt }, models: listModels(values) }) as T;
}

function nameValues({ model, smallModel, tiers, ...service }: SetupValues): TemplateValues['named'] {
  const { name } = model;
  const { opus = name, sonnet = name, fable = name } = tiers;
  const zedProvider = createZedProvider(service.providerId);
  return {
    ...service,
    ...nameModel(model),
    smallModel: smallModel.name,
    opus,
    sonnet,
    fable,
    zedProvider,
    zedKeyVariable: createZedKeyVariable(zedProvider),
  };
}

function nameModel({ name, ...capabilities }: SetupModel): TemplateValues['named'] {
  return { model: name, ...capabilities };
}

function listModels({ model, smallModel }: SetupValues): TemplateValues['models'] {
  return [...new Set([model, smallModel])].map(nameModel);
}

function createZedProvider(id: string): string {
  // Zed derives the key's variable from this name, and names of shell variables cannot start with a digit.
  return /^\d/.test(id) ? `gateway-${id}` : id;
}

function createZedKeyVariable(provider: string): string {
  // Zed does the same (convert_case, UpperSnake; open_ai_compatible.rs): a word ends where letters and digits meet.
  const words = provider.toUpperCase().match(/[A-Z]+|\d+/g) ?? [];
  return [...words, 'API', 'KEY'].join('_');
}

function fill(template: unknown, values: TemplateValues): unknown {
  if (typeof template === 'string') return fillText(template, values);
  if (typeof template !== 'object' || template === null) return template;
  const isList = Array.isArray(template);
  const members = Object.entries(template).flatMap(([name, member]) =>
    isList ? fillEntry(member, values) : fillMember(name, member, values),
  );
  const present = members.filter(([, value]) => value !== undefined);
  if (present.length === 0 && Object.keys(template).length > 0) return undefined;
  return isList ? present.map(([, value]) => value) : Object.fromEntries(present);
}

type Member = readonly [name: string, value: unknown];

function fillEntry(entry: unknown, values: TemplateValues): Member[] {
  const isRepeated = typeof entry === 'object' && entry !== null && eachModel in entry;
  return isRepeated ? fillMember(eachModel, entry[eachModel], values) : [['', fill(entry, values)]];
}

function fillMember(name: string, member: unknown, values: TemplateValues): Member[] {
  if (!name.startsWith(eachModel)) return [[String(fillText(name, values)), fill(member, values)]];
  return values.models.flatMap((model) =>
    fillMember(name.slice(eachModel.length), member, { ...values, named: { ...values.named, ...model } }),
  );
}

function fillText(template: string, { named }: TemplateValues): Value {
  const valueOf = (name: string) => {
    if (!Object.hasOwn(named, name)) throw new Error(`"${template}" names "${name}", which is not a value`);
    return named[name];
  };
  const [condition = '', word, subject] = /^<(if|unless) (\w+)>/.exec(template) ?? [];
  if (subject !== undefined && Boolean(valueOf(subject)) !== (word === 'if')) return undefined;
  const text = template.slice(condition.length);
  const [, typed, fallback] = /^<(\w+)(?:\|(\d+))?>$/.exec(text) ?? [];
  if (typed !== undefined) return valueOf(typed) ?? (fallback === undefined ? undefined : Number(fallback));
  const placeholder = /<(?:text )?(\w+)>/g;
  const isComplete = [...text.matchAll(placeholder)].every(([, name = '']) => valueOf(name) !== undefined);
  return isComplete ? text.replaceAll(placeholder, (_, name: string) => String(valueOf(name))) : undefined;
}
