import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type { Notes } from '../../canonical/notes.ts';
import { losableSettings, type SettingName, type SettingType } from '../../canonical/settings.ts';
import { invalidValue, isMissing } from '../../wire/read.ts';
import { anything, type Rule } from './rules.ts';

/** A parameter that sets one of the conversation's settings, so upstreams of other formats receive it too. */
interface SettingRow<N extends SettingName> {
  /** By default any value is valid. */
  readonly is?: Rule;
  /** If several parameters set it, the first wins. */
  readonly to: N;
  /** By default the setting is the value itself. Undefined for a value that sets nothing. */
  read?(value: JsonValue, notes: Notes): SettingType<N> | undefined;
  /** By default the value is the setting itself. Undefined if the route does not support it, which is noted. */
  write?(setting: SettingType<N>, target: EncodeTarget): JsonValue | undefined;
  /** Set if other code writes the parameter instead of this row; `none` if upstreams do not support it. */
  readonly writtenBy?: 'encoder' | 'none';
}

/** A parameter that no other format has. */
interface LostRow {
  readonly is: Rule;
  /** Returns true if losing this value in a translation must be noted. */
  isLost(value: JsonValue): boolean;
}

/** A bare rule if other code reads and writes the parameter. */
type Row = Rule | LostRow | { readonly [N in SettingName]: SettingRow<N> }[SettingName];
type Rows = Readonly<Record<string, Row>>;

export interface Parameter {
  /** Path, such as `generationConfig.temperature`. */
  readonly name: string;
  readonly path: readonly string[];
  /** The first mistake in this order is reported. */
  readonly order: number;
  readonly rule: Rule;
  readonly row: Partial<SettingRow<SettingName> & LostRow>;
  /** True if an earlier row sets the same setting. */
  readonly isAlias: boolean;
}

type Members = Map<string, Member>;
type IsLost = (value: JsonValue) => boolean;

/** A member of a request. The body itself counts as a member without a parameter. */
export interface Member {
  /** The spelling that takes precedence if an object has several; empty for the body. */
  readonly name: string;
  parameter?: Parameter;
  /** True if the value is only checked before a translation, because routes of the same format accept any value. */
  isUnchecked?: boolean;
  /** The members of an object, under each of their spellings. */
  members?: Members;
  /** Returns true if the loss of an unknown member of this object must be noted. */
  isLost?: IsLost;
}

export interface ParameterRules {
  /** Parameters that are checked for every route. */
  readonly checkedParameters: readonly Parameter[];
  readonly settings: readonly Parameter[];
  /** The rules as a tree. Lookups start from the members of a body, because a body has fewer members than there are rules. */
  readonly body: Member;
  /** The documented names of the top-level members, including the model, under each of their spellings. */
  readonly documentedNames: ReadonlyMap<string, string>;
  readonly foldedNames: ReadonlySet<string>;
  readonly writtenParameters: readonly Parameter[];
  /** Settings for which upstreams of the format have no parameter. */
  readonly lostSettings: readonly SettingName[];
}

interface ParameterOptions {
  /** Parameters that are only checked before a translation, because routes of the same format accept any value. */
  readonly translationOnly?: Rows;
  /** Members without a row, because other code reads them or their loss does not matter. */
  readonly unmappedMembers?: readonly string[];
  /** Objects whose unknown members are noted, each with a test for the member's value. */
  readonly closedObjects?: Readonly<Record<string, IsLost>>;
  /** Settings that the encoder puts into other parameters. */
  readonly encodedSettings?: readonly SettingName[];
  spellingsOf?(name: string): readonly string[];
}

const onlyItself = (name: string) => [name];

/**
 * Compiles a format's parameters from one row per path: how it is validated, read from a client's request, and written for an upstream.
 * Rejects only values that are certainly the caller's error and leaves all others to the upstream, because vendors keep adding parameters.
 * Bounds are those that the vendor publishes.
 */
export function compileParameters(rows: Rows, options: ParameterOptions = {}): ParameterRules {
  const { translationOnly = {}, encodedSettings = [], spellingsOf = onlyItself } = options;
  const allParameters = compileRows({ ...rows, ...translationOnly });
  const checkedParameters = allParameters.filter(({ name }) => Object.hasOwn(rows, name));
  const topLevelNames = checkedParameters.flatMap(({ path: [name = ''] }) =>
    spellingsOf(name).map((spelling) => [spelling, name] as const),
  );
  const documentedNames = new Map([['model', 'model'], ...topLevelNames]);
  const settings = allParameters.filter(({ row }) => row.to !== undefined);
  const writtenSettings = new Set([
    ...encodedSettings,
    ...settings.map(({ row }) => (row.writtenBy === 'none' ? undefined : row.to)),
  ]);
  return {
    checkedParameters,
    settings,
    body: buildMemberTree(allParameters, options),
    documentedNames,
    foldedNames: new Set([...documentedNames.keys()].map(foldCase)),
    writtenParameters: settings.filter(({ row }) => row.writtenBy === undefined),
    lostSettings: losableSettings.filter((path) => !writtenSettings.has(path)),
  };
}

function compileRows(rows: Rows): Parameter[] {
  const seen = new Set<SettingName>();
  return Object.entries(rows).map(([name, entry], order) => {
    const row: Parameter['row'] = typeof entry === 'function' ? { is: entry } : entry;
    const isAlias = row.to !== undefined && seen.has(row.to);
    if (row.to !== undefined) seen.add(row.to);
    return { name, path: name.split('.'), order, rule: row.is ?? anything, row, isAlias };
  });
}

function buildMemberTree(parameters: readonly Parameter[], options: ParameterOptions): Member {
  const { translationOnly = {}, unmappedMembers = [], closedObjects = {}, spellingsOf = onlyItself } = options;
  const body: Member = { name: '' };
  const ensureMember = ([name, ...inner]: readonly string[], holder = body): Member => {
    if (name === undefined) return holder;
    const members = (holder.members ??= new Map());
    const member = members.get(name) ?? { name };
    for (const spelling of spellingsOf(name)) members.set(spelling, member);
    return ensureMember(inner, member);
  };
  for (const parameter of parameters) {
    const isUnchecked = Object.hasOwn(translationOnly, parameter.name);
    Object.assign(ensureMember(parameter.path), { parameter, isUnchecked } satisfies Partial<Member>);
  }
  for (const name of unmappedMembers) ensureMember(name.split('.'));
  for (const [name, isLost] of Object.entries(closedObjects)) ensureMember([name]).isLost = isLost;
  return body;
}

/** Folds a name's case as case-insensitive parsers do: the Kelvin sign equals k, and the long s equals s. */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Returns a camelCase name and its snake_case spelling, which Protobuf also accepts. */
export function listCaseVariants(name: string): readonly string[] {
  return [...new Set([name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])];
}

/** @throws GatewayError `invalid_request` naming the first missing or invalid parameter */
export function checkParameters(body: JsonObject, rules: ParameterRules, required: readonly string[]): void {
  requireParameters(body, rules, required);
  const mistake = findFirstMistake(body, rules.body);
  if (mistake !== undefined) throw mistake.error;
}

interface Mistake {
  readonly order: number;
  readonly error: GatewayError;
}

/** @param earlierMistake the first mistake in members that were already checked */
function findFirstMistake(object: JsonObject, { members }: Member, earlierMistake?: Mistake): Mistake | undefined {
  let firstMistake = earlierMistake;
  for (const name of Object.keys(object)) {
    const value = object[name];
    const member = members?.get(name);
    if (member === undefined || member.isUnchecked === true || isMissing(value)) continue;
    // The object also has the spelling that takes precedence.
    if (name !== member.name && Object.hasOwn(object, member.name)) continue;
    const mistake = member.parameter && findMistake(value, member.parameter);
    if (mistake !== undefined && (firstMistake === undefined || mistake.order <= firstMistake.order))
      firstMistake = mistake;
    if (member.members !== undefined && isJsonObject(value))
      firstMistake = findFirstMistake(value, member, firstMistake);
  }
  return firstMistake;
}

export function findMistake(value: JsonValue, { name, rule, order }: Parameter): Mistake | undefined {
  const fault = rule(value);
  if (fault === undefined) return undefined;
  const error =
    typeof fault === 'string' ? invalidValue(name, fault) : invalidValue(name + fault.position, fault.expected);
  return { order, error };
}

/** @throws GatewayError `invalid_request` naming the first missing parameter */
export function requireParameters(
  body: JsonObject,
  { checkedParameters }: ParameterRules,
  required: readonly string[],
): void {
  const name = required.find((parameter) => isMissing(body[parameter]));
  if (name === undefined) return;
  const expected = checkedParameters.find((parameter) => parameter.name === name)?.rule(null);
  const hint = typeof expected === 'string' ? ` It must be ${expected}.` : '';
  throw new GatewayError('invalid_request', `Missing required parameter: \`${name}\`.${hint}`, { param: name });
}
