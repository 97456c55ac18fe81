import type { JsonObject } from '#core/json.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

function schema(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, required };
}

function commands(...names: string[]): JsonObject {
  return { type: 'string', enum: names };
}

interface TypedTool {
  readonly type: RegExp;
  readonly description: string;
  readonly schema: JsonObject;
}

/**
 * Tools that Anthropic's models know by type, but that the client executes: other models can use them when they get a schema.
 * Source: Anthropic docs, "Bash tool", "Text editor tool", "Memory tool".
 */
const typedTools: readonly TypedTool[] = [
  {
    type: /^bash_\d/,
    description: 'Runs a command in a bash shell that stays open from call to call. restart begins a new shell.',
    schema: schema({ command: text, restart: { type: 'boolean' } }, []),
  },
  {
    type: /^text_editor_\d/,
    description: 'Views, creates and edits files.',
    schema: schema(
      {
        command: commands('view', 'create', 'str_replace', 'insert'),
        path: text,
        file_text: { ...text, description: 'For create: content of the file.' },
        old_str: { ...text, description: 'For str_replace: text to replace; it must occur once in the file.' },
        new_str: { ...text, description: 'For str_replace: replacement text.' },
        insert_line: { ...integer, description: 'For insert: the line after which to insert, 0 for the beginning.' },
        insert_text: { ...text, description: 'For insert: text to insert.' },
        view_range: { type: 'array', items: integer, description: 'For view: first and last line, -1 for the end.' },
      },
      ['command', 'path'],
    ),
  },
  {
    type: /^memory_\d/,
    description: 'Keeps note files under /memories, across conversations.',
    schema: schema(
      {
        command: commands('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
        path: text,
        file_text: text,
        old_str: text,
        new_str: text,
        insert_line: integer,
        insert_text: text,
        view_range: { type: 'array', items: integer },
        old_path: text,
        new_path: text,
      },
      ['command'],
    ),
  },
];

export function findTypedTool(type: string): Pick<TypedTool, 'description' | 'schema'> | undefined {
  const found = typedTools.find((tool) => tool.type.test(type));
  return found && { description: found.description, schema: found.schema };
}
