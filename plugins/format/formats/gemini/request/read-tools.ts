import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { readName, ToolSet } from '../../../canonical/tools.ts';
import { iterateList, readFieldsIfPresent, readFields, readEnum } from '../../../wire/gemini-fields.ts';
import type {
  GeminiFunctionCallingConfig,
  GeminiFunctionDeclaration,
  GeminiRequest,
  GeminiTool,
  GeminiToolConfig,
} from '../../../wire/gemini.ts';
import { listTexts } from '../../../wire/members.ts';
import { invalidValue, isMissing, type BodyObject } from '../../../wire/read.ts';
import { readSchema } from '../schema/read-schema.ts';

const searchNames = new Set(['googleSearch', 'googleSearchRetrieval', 'enterpriseWebSearch']);

/**
 * Reads a request's tools. Omits those that only Google can run.
 *
 * Source: Gemini API reference, "Tool".
 *
 * @throws GatewayError `invalid_request`
 */
export function readTools(request: BodyObject<GeminiRequest>, notes: Notes): Tool[] {
  const tools = new ToolSet();
  for (const entry of iterateList<GeminiTool, GeminiRequest>(request, 'tools')) addTools(entry, tools, notes);
  return tools.list;
}

function addTools(entry: BodyObject<GeminiTool>, tools: ToolSet, notes: Notes): void {
  for (const declaration of iterateList<GeminiFunctionDeclaration, GeminiTool>(entry, 'functionDeclarations'))
    tools.add(readDeclaration(declaration, notes));
  for (const name of Object.keys(entry.value) as (keyof GeminiTool & string)[]) {
    if (name === 'functionDeclarations' || entry.isMissing(name)) continue;
    if (searchNames.has(name)) tools.add(readSearch(readFields<JsonObject, GeminiTool>(entry, name).value, notes));
    else notes.drop(`tool ${name}`);
  }
}

function readSearch({ excludeDomains, ...others }: JsonObject, notes: Notes): Tool {
  for (const [name, value] of Object.entries(others)) if (!isMissing(value)) notes.drop(`${name} of googleSearch`);
  const blocked = listTexts(excludeDomains);
  return { form: 'web_search', options: blocked.length === 0 ? {} : { blockedDomains: blocked } };
}

function readDeclaration(declaration: BodyObject<GeminiFunctionDeclaration>, notes: Notes): ClientTool {
  if (readEnum(declaration, 'behavior') === 'NON_BLOCKING') notes.drop('function behavior');
  notes.dropMembers(declaration.value, ['response', 'responseJsonSchema'], 'a function');
  const jsonSchema = declaration.maybeObject('parametersJsonSchema')?.value;
  const subsetSchema = declaration.maybeObject('parameters')?.value;
  return {
    form: 'function',
    name: readName(declaration),
    namespace: undefined,
    description: declaration.maybeText('description'),
    schema: jsonSchema ?? (subsetSchema && readSchema(subsetSchema)),
    strict: undefined,
    grammar: undefined,
  };
}

/**
 * Reads the tool choice. Notes members of `toolConfig` that other formats cannot express.
 *
 * @throws GatewayError `invalid_request`
 */
export function readToolChoice(
  request: BodyObject<GeminiRequest>,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice | undefined {
  const config = readFieldsIfPresent<GeminiToolConfig, GeminiRequest>(request, 'toolConfig');
  for (const [name, member] of Object.entries(config?.value ?? {})) {
    if (name !== 'functionCallingConfig' && !isEmpty(member)) notes.drop(`toolConfig.${name}`);
  }
  const calling =
    config && readFieldsIfPresent<GeminiFunctionCallingConfig, GeminiToolConfig>(config, 'functionCallingConfig');
  if (calling === undefined) return undefined;
  const mode = readEnum(calling, 'mode');
  const names = readAllowed(calling, tools);
  const allowedMember = names && { allowed: names };
  switch (mode) {
    case undefined:
      return allowedMember && { type: 'auto', ...allowedMember };
    case 'AUTO':
      return { type: 'auto', ...allowedMember };
    case 'VALIDATED':
      notes.approximate('mode VALIDATED as AUTO');
      return { type: 'auto', ...allowedMember };
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      return names?.length === 1 ? { type: 'tool', name: names[0] } : { type: 'required', ...allowedMember };
    default:
      throw invalidValue(calling.pathOf('mode'), 'AUTO, ANY, NONE or VALIDATED');
  }
}

function readAllowed(
  calling: BodyObject<GeminiFunctionCallingConfig>,
  tools: readonly Tool[],
): readonly string[] | undefined {
  const names = calling.texts('allowedFunctionNames');
  for (const [index, name] of names.entries()) {
    if (!tools.some((tool) => isClientTool(tool) && tool.name === name)) {
      throw invalidValue(`${calling.pathOf('allowedFunctionNames')}[${index}]`, 'the name of one of the functions');
    }
  }
  return names.length === 0 ? undefined : names;
}

function isEmpty(value: JsonValue | undefined): boolean {
  return isMissing(value) || (isJsonObject(value) && Object.keys(value).length === 0);
}
