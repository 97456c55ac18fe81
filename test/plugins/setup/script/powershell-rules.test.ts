import { beforeAll, describe, expect, it } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { renderPowershell } from '../../../../plugins/setup/script/render-scripts.ts';
import { createParser, functionsOf, nodesOf } from './powershell-syntax.ts';
import { sampleData, sampleTools } from './sandbox.ts';

/*
 * Traps of PowerShell that parse and even run: what they do differs by version, language of the user, or number of elements.
 * Each rule is a function that names what breaks it, tried on a sentence that does.
 */

let parse: (text: string) => Node;
let root: Node;
beforeAll(async () => {
  parse = await createParser();
  root = parse(renderPowershell(sampleData('http://localhost', sampleTools)));
});

/**
 * Methods without a result, by the metadata of Windows PowerShell 5.1, and methods that only read: a statement with one of these
 * is meant as output. What any other method gives would become output of its function by mistake.
 */
const meant =
  /(\.(Abort|Add|Close|CopyTo|Dispose|Kill|Remove|SetValue|Write)|\]::(Delete|Move|Replace|Reverse|SetEnvironmentVariable|WriteAllBytes)|(\.|::)(Combine|Get|Split|To|Trim)\w*)$/;

/** Nodes of a type in the code of functions: data and helpers are texts. */
const inFunctions = (tree: Node, ...types: string[]) =>
  functionsOf(tree).flatMap(({ node }) => nodesOf(node, ...types));

interface Rule {
  readonly title: string;
  readonly broken: string;
  find(tree: Node): readonly string[];
}

const rules: readonly Rule[] = [
  {
    title: 'compares texts by case, except where it says OrdinalIgnoreCase',
    broken: "if ($model -eq 'dp/a') { 1 }",
    find: (tree) =>
      inFunctions(tree, 'comparison_expression').flatMap(({ text, children }) => {
        const [left = '', operator = '', right = ''] = children.map((child) => child!.text);
        if (/^-(not)?(match|like|contains)$|^-(replace|split|notin)$/i.test(operator)) return [text];
        const isPlain = left === '$null' || /\.(Count|Length|status|code)$/.test(left) || /^\d+$/.test(right);
        return /^-(eq|ne)$/i.test(operator) && !isPlain ? [text] : [];
      }),
  },
  {
    title: 'compares with $null on the left: on the right of a list, -eq filters',
    broken: 'if ($tools -eq $null) { 1 }',
    find: (tree) =>
      inFunctions(tree, 'comparison_expression').flatMap(({ text }) =>
        /-c?(eq|ne) \$null$/i.test(text) ? [text] : [],
      ),
  },
  {
    title: 'looks for the start and end of a text by bytes, not by a language',
    broken: "if ($path.StartsWith('~')) { 1 }",
    find: (tree) =>
      inFunctions(tree, 'invokation_expression').flatMap(({ text }) =>
        /\.(StartsWith|EndsWith|IndexOf|LastIndexOf)\((?!.*\[StringComparison\]::Ordinal)/s.test(text) ? [text] : [],
      ),
  },
  {
    title: 'ignores case in patterns and changes it by the invariant culture: Turkish has other letters',
    broken: '$x = $text.ToLower()',
    find: (tree) => [
      ...inFunctions(tree, 'invokation_expression').flatMap(({ text }) =>
        /\.(ToLower|ToUpper)\(/.test(text) ? [text] : [],
      ),
      ...inFunctions(tree, 'verbatim_string_characters', 'member_access').flatMap(({ text }) =>
        /IgnoreCase/.test(text) && !/CultureInvariant|Ordinal/.test(text) ? [text] : [],
      ),
    ],
  },
  {
    title: 'formats numbers and times by the invariant culture',
    broken: "$x = $seconds.ToString('0.0')",
    find: (tree) =>
      inFunctions(tree, 'invokation_expression').flatMap(({ text }) =>
        /\.ToString\((?!.*InvariantCulture\))(?!'n'\))/s.test(text) ? [text] : [],
      ),
  },
  {
    title: 'calls no method for its effect that has a result: it would be output of the function',
    broken: '$list.Insert(0, 1); [IO.Directory]::CreateDirectory($path)',
    find: (tree) =>
      statementsOf(tree)
        .filter((text) => text.endsWith('('))
        .flatMap((text) => (meant.test(text.slice(0, -1)) ? [] : [text])),
  },
  {
    title: 'waits for nothing without a limit',
    broken: '$process.WaitForExit()',
    find: (tree) =>
      inFunctions(tree, 'invokation_expression').flatMap(({ text }) =>
        /\.(WaitForExit|Wait|WaitOne|Join)\(\)$|\.GetResponse\(|\.GetRequestStream\(|\.ReadToEnd\(\)$/.test(text) &&
        !text.startsWith('$reader.ReadToEnd')
          ? [text]
          : [],
      ),
  },
  {
    title: 'loads by no command that Internet Explorer, redirects or progress bars take part in',
    broken: 'Invoke-WebRequest $url',
    find: (tree) =>
      inFunctions(tree, 'command_name').flatMap(({ text }) =>
        /^(Invoke-WebRequest|Invoke-RestMethod|iwr|irm|curl|wget|Start-BitsTransfer)$/i.test(text) ? [text] : [],
      ),
  },
  {
    title: 'neither reads nor writes text by a command that guesses its encoding',
    broken: 'Set-Content $path $text',
    find: (tree) =>
      inFunctions(tree, 'command_name', 'redirection').flatMap(({ type, text }) =>
        type === 'redirection' || /^((Set|Get|Add)-Content|Out-File|(Export|Import)-\w+)$/i.test(text) ? [text] : [],
      ),
  },
  {
    title: 'gives .NET no $null for a text: PowerShell makes an empty text of it',
    broken: '[IO.File]::Replace($new, $old, $null)',
    find: (tree) =>
      inFunctions(tree, 'argument_expression_list').flatMap((node) =>
        node.namedChildren.some((child) => child?.text === '$null') && !/DoNotExpand/.test(node.text)
          ? [node.parent!.parent!.text]
          : [],
      ),
  },
  {
    title: 'does not touch the table of the environment, which fails where names differ only in case',
    broken: "$start.EnvironmentVariables.Remove('X')",
    find: (tree) =>
      inFunctions(tree, 'member_access').flatMap(({ text }) =>
        /\.(EnvironmentVariables|Environment)$/.test(text) ? [text] : [],
      ),
  },
  {
    title: 'is ended by the script itself only: exit in a function closes the window of `irm | iex`',
    broken: 'exit 1',
    find: (tree) =>
      inFunctions(tree, 'flow_control_statement').flatMap(({ text }) => (/^exit\b/i.test(text) ? [text] : [])),
  },
];

/** Statements that are a call of a method, each as far as the bracket of its arguments. */
function statementsOf(tree: Node): string[] {
  return inFunctions(tree, 'invokation_expression').flatMap((node) => {
    let statement = node;
    while (statement.parent && statement.parent.text === node.text && statement.parent.type !== 'pipeline')
      statement = statement.parent;
    const pipeline = statement.parent;
    const isStatement =
      pipeline?.type === 'pipeline' &&
      /^(statement_list|statement_block|script_block_body)$/.test(pipeline.parent!.type);
    if (!isStatement || givesResult(pipeline.parent!)) return [];
    const list = node.namedChildren.find((child) => child?.type === 'argument_list');
    return [node.text.slice(0, list!.startIndex - node.startIndex + 1)];
  });
}

/** True for the statements of a function whose last expression is meant as its output, such as one behind Where-Object. */
function givesResult(list: Node): boolean {
  for (let node: Node | null = list; node !== null; node = node.parent) {
    if (node.type === 'function_statement') return false;
    if (node.type === 'script_block_expression') return true;
  }
  return false;
}

describe('setup.ps1', () => {
  for (const { title, broken, find } of rules) {
    it(title, () => {
      expect(find(parse(`function A {\n  ${broken}\n}`))).not.toEqual([]);
      expect(find(root)).toEqual([]);
    });
  }
});
