import { memberNameOf } from './expressions.ts';
import { setElement, setMember } from './members.ts';
import { add } from './operators.ts';
import type { Session } from './session.ts';
import { nameOf, type SyntaxNode as Node } from './tree.ts';
import { collapse, enumerate, type Value } from './values.ts';

/** `$x = …`, `$a, $b = …`, `$x.y = …`, `$x[0] += …` */
export function runAssignment(session: Session, node: Node): void {
  const [left, operator, right] = [node.namedChildren[0]!, node.namedChildren[1]!, node.namedChildren[2]!];
  const value = session.valueOf(right);
  const target = left.inner;
  if (target.type === 'array_literal_expression') {
    const values = enumerate(value);
    target.namedChildren.forEach((one, index, { length }) =>
      assign(
        session,
        one.inner,
        index === length - 1 ? (collapse(values.slice(index)) ?? null) : (values[index] ?? null),
      ),
    );
  } else
    assign(
      session,
      target,
      operator.text === '=' ? value : add(session.value(target), operator.text === '-=' ? -Number(value) : value),
    );
}

/** Puts a value where a variable, a member or an element is. */
export function assign(session: Session, target: Node, value: Value): void {
  if (target.type === 'variable') {
    const name = nameOf(target);
    if (name.startsWith('global:')) session.machine.globals.set(name.slice(7), value);
    else if (name !== 'null') session.frame.variables.set(name, value);
  } else if (target.type === 'member_access') {
    setMember(session, session.value(target.namedChildren[0]!), memberNameOf(session, target), value ?? null);
  } else setElement(session.value(target.namedChildren[0]!), session.value(target.namedChildren[1]!), value ?? null);
}
