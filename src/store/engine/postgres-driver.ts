import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { DatabaseUnreachable } from '../../domain/database-unreachable.ts';
import { CommitUnknown } from './errors.ts';

/** Lets Kysely speak to PostgreSQL over connections that may be lost at any moment. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  /** @throws DatabaseUnreachable */
  async acquireConnection(): Promise<LentConnection> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw new DatabaseUnreachable(error);
    });
    return new LentConnection(client);
  }

  async beginTransaction(connection: DatabaseConnection, { isolationLevel }: TransactionSettings) {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : '';
    await connection.executeQuery(CompiledQuery.raw(`start transaction${level}`));
  }

  /** @throws CommitUnknown unless the database itself says that it rolled back */
  async commitTransaction(connection: LentConnection): Promise<void> {
    const { command } = await connection.run('commit').catch((error: unknown) => {
      throw provesRollback(error) ? error : new CommitUnknown(error);
    });
    // This is how it answers when a statement had failed unnoticed.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
  }

  async rollbackTransaction(connection: LentConnection): Promise<void> {
    // The database rolls back by itself when the connection is lost; another error would hide the first one.
    if (!connection.isBroken()) await connection.run('rollback');
  }

  async releaseConnection(connection: LentConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection for one transaction or statement; a broken one doesn't go back to the pool. */
class LentConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #broken: Error | undefined;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.run(sql, parameters);
    return { rows };
  }

  /** @throws DatabaseUnreachable when the connection was lost; what the database says about the statement */
  async run(sql: string, parameters: readonly unknown[] = []) {
    if (this.#broken) throw this.#broken;
    try {
      return await this.#client.query(sql, parameters.map(cleanText));
    } catch (error) {
      if (isStatementError(error)) throw error;
      this.#broken = isDefect(error) ? error : new DatabaseUnreachable(error);
      throw this.#broken;
    }
  }

  streamQuery(): never {
    throw new Error('queries are not streamed');
  }

  isBroken(): boolean {
    return this.#broken !== undefined;
  }

  release(): void {
    this.#client.release(this.#broken);
  }
}

/** Errors after which the database ends the connection: a shutdown, a lost or confused client, one that idled too long. */
const ENDS_CONNECTION = /^(57P|08|25P0[34])/;

/** Whether the database refused this statement alone: the connection is as good as before. Its words may be in any language. */
function isStatementError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !ENDS_CONNECTION.test(error.code ?? '08');
}

/** Whether a value could not be sent or read, which says nothing about the connection: it is closed to be safe. */
function isDefect(error: unknown): error is Error {
  return error instanceof RangeError || error instanceof TypeError;
}

/** Whether a commit failed for a conflict or a constraint. After any other error it may have been stored. */
function provesRollback(error: unknown): boolean {
  return error instanceof DatabaseError && /^(40|23)/.test(error.code ?? '');
}

/** Whether a transaction was rolled back because another one was in its way. */
export function isConflict(error: unknown): boolean {
  return isStatementError(error) && (error.code === '40001' || error.code === '40P01');
}

/** A character that the database can't store becomes the sign for one; what users type must not be an error. */
function cleanText(parameter: unknown): unknown {
  return typeof parameter === 'string' ? parameter.replaceAll('\0', '\uFFFD') : parameter;
}
