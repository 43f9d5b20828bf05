import type { Operation } from '../../domain/operation.ts';
import { Secret } from '../../domain/secret.ts';
import type { SealedPlace } from '../../vault.ts';
import type { Foundation } from '../engine/database.ts';

type Row = Pick<Operation, 'id' | 'workspaceId'>;

/** Seals an answer to a create for its creator, who may find the password in it. It opens in its own row alone. */
export function sealAnswer({ vault }: Foundation, row: Row, answer: Secret<string>): string {
  return vault.seal(answer.reveal(), placeOf(row));
}

/** Opens it again. A lost encryption key must not keep the order from being settled: then it is undefined. */
export function openAnswer({ vault }: Foundation, row: Row, sealed: string): Secret<string> | undefined {
  try {
    return asPassword(new Secret(vault.open(sealed, placeOf(row))));
  } catch {
    return undefined;
  }
}

/** What is shown to a server's creator instead of a root password that was not recognized. */
export function asPassword(answer: Secret<string>): Secret<string> {
  return new Secret(`No root password was recognized. The hosting API answered:\n${answer.reveal()}`);
}

function placeOf({ id, workspaceId }: Row): SealedPlace {
  return { table: 'operations', row: id, column: 'sealed_answer', workspaceId };
}
