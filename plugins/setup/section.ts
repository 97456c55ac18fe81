import { compileGlob } from '#core/config/catalog/glob.ts';
import { publicNameOf } from '#core/config/catalog/model-name.ts';
import { suggest } from '#core/config/file/mistake.ts';
import { type CheckContext, defineSection, type Report, type SectionValue } from '#core/config/section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { aliases, models } from '#core/config/sections/models-section.ts';
import { array, object, string } from '#core/platform/schema.ts';

const plainNameRule = 'use a model or alias whose name has only ASCII letters, digits and . / : @ + - _';

/** Plain names mean nothing special in shells and settings files, and cannot be mistaken for a placeholder. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9][\w./:@+-]*$/.test(name) && !/@[A-Z_]+@/.test(name);
}

const modelName = string({ minLength: 1 });

const formatModels = (format: string) =>
  object(`Models for tools that speak ${format}.`, {
    model: string(modelName, 'Name of a model. Default: `setup.model`.'),
    small_model: string(modelName, 'Name of a model for titles and summaries. Default: `setup.small_model`.'),
  });

export const setupSection = defineSection({
  name: 'setup',
  schema: object(
    { default: {} },
    'Models for setting up tools with /setup.sh, /setup.ps1 and the page that shows their settings.',
    {
      model: string(
        modelName,
        'Name of a model, as in models or aliases. Default, for each format: the first model whose primary route speaks it, otherwise the first model for conversations.',
      ),
      small_model: string(
        modelName,
        'Name of a model for titles and summaries. Default: chosen in the same way among models with a word such as mini, haiku or flash in their names, otherwise the model itself.',
      ),
      former_names: array(
        { default: [], maxItems: 20, items: string({ minLength: 1, maxLength: 100 }) },
        'Former names of the service, the latest first. The scripts remove the settings that customers made under these names.',
      ),
      formats: object({ default: {} }, 'Models for tools, by the format that the tools speak.', {
        chat: formatModels('Chat Completions'),
        responses: formatModels('Responses'),
        messages: formatModels('Messages'),
        gemini: formatModels('Gemini'),
      }),
    },
  ),
  check(settings, report, context) {
    const knownNames = collectKnownNames(context);
    if (knownNames === undefined) return;
    for (const named of listNamedModels(settings)) checkName(named, knownNames, report);
  },
});

interface NamedModel {
  readonly path: readonly string[]; // path of the setting in gateway.yaml, such as setup, formats, chat, model
  readonly name: string;
}

type Names = Pick<SectionValue<typeof setupSection>, 'model' | 'small_model'>;
type Settings = Names & { readonly formats: Readonly<Record<string, Names | undefined>> };

export function listNamedModels({ formats, ...all }: Settings): NamedModel[] {
  const groups = Object.entries(formats).map(([format, names]) => listNames(['setup', 'formats', format], names ?? {}));
  return [listNames(['setup'], all), ...groups].flat();
}

function listNames(path: readonly string[], names: Names): NamedModel[] {
  return (['model', 'small_model'] as const).flatMap((key) => {
    const name = names[key];
    return name === undefined ? [] : [{ path: [...path, key], name }];
  });
}

interface KnownNames {
  readonly names: readonly string[];
  has(name: string): boolean;
}

function collectKnownNames(context: CheckContext): KnownNames | undefined {
  const modelNames = context.names(models);
  const aliasNames = context.names(aliases);
  const { prefix = '' }: Partial<SectionValue<typeof service>> = context.get(service);
  if (modelNames === undefined || aliasNames === undefined || prefix === '') return undefined;
  const names = [...modelNames, ...modelNames.map((name) => publicNameOf(prefix, name)), ...aliasNames];
  const matchers = names.map(compileGlob);
  return {
    names: names.filter((name) => !name.includes('*')),
    has: (name) => matchers.some((matches) => matches(name)),
  };
}

function checkName({ path, name }: NamedModel, known: KnownNames, report: Report): void {
  if (!known.has(name)) {
    report(path, `names the model "${name}", which does not exist`, suggest(name, known.names));
  } else if (!isPlainName(name)) {
    report(path, `names the model "${name}", whose name is not safe in the settings of tools`, plainNameRule);
  }
}
