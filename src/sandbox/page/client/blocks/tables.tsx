import { useState } from 'preact/hooks';
import { textIn } from '../../../slack/json.ts';
import { scrollable } from '../elements/popup.tsx';
import { Signed } from '../text/view.tsx';
import type { BlockProps } from './block-view.tsx';
import { filterRows, nextOrder, type Order, type Row, rowsOf, sortRows } from './sort-rows.ts';

/** Slack's "Data table block" page. */
const PAGE_SIZE = 5;

/** A table that readers can sort, filter and page through. */
export function DataTable({ block }: BlockProps) {
  const [head = [], ...rows] = rowsOf(block);
  const [typed, setTyped] = useState('');
  const [order, setOrder] = useState<Order>();
  const [page, setPage] = useState(0);
  const size = typeof block.page_size === 'number' ? block.page_size : PAGE_SIZE;
  const found = sortRows(filterRows(rows, typed), order);
  const pages = Math.max(1, Math.ceil(found.length / size));
  const at = Math.min(page, pages - 1);
  const headerColumn = typeof block.row_header_column_index === 'number' ? block.row_header_column_index : 0;
  const caption = textIn(block, 'caption');
  const filter = (next: string) => {
    setTyped(next);
    setPage(0);
  };
  return (
    <div class="data-table">
      <div class="table-tools">
        <span class="table-caption">{caption}</span>
        {rows.length > size && <Filter caption={caption} typed={typed} onType={filter} />}
      </div>
      <section class="table-scroll" aria-label={caption} {...scrollable}>
        <table>
          <Head cells={head} order={order} onSort={(column) => setOrder(nextOrder(order, column))} />
          <tbody>
            {found.slice(at * size, (at + 1) * size).map((row, index) => (
              <BodyRow key={index} row={row} headerColumn={headerColumn} />
            ))}
          </tbody>
        </table>
      </section>
      <Pager found={found.length} all={rows.length} size={size} at={at} pages={pages} onTurn={setPage} />
    </div>
  );
}

interface FilterProps {
  readonly caption: string;
  readonly typed: string;
  readonly onType: (typed: string) => void;
}

function Filter({ caption, typed, onType }: FilterProps) {
  return (
    <input
      type="search"
      class="text-input table-filter"
      aria-label={`Filter ${caption}`}
      placeholder="Filter"
      value={typed}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  );
}

interface HeadProps {
  readonly cells: Row;
  readonly order: Order | undefined;
  readonly onSort: (column: number) => void;
}

function Head({ cells, order, onSort }: HeadProps) {
  return (
    <thead>
      <tr>
        {cells.map((cell, column) => {
          const direction = order?.column === column ? order.direction : undefined;
          const sign = direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : '↕';
          return (
            <th key={column} scope="col" aria-sort={direction ?? 'none'}>
              <button type="button" class="sort" onClick={() => onSort(column)}>
                {cell} <span aria-hidden="true">{sign}</span>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function BodyRow({ row, headerColumn }: { readonly row: Row; readonly headerColumn: number }) {
  return (
    <tr>
      {row.map((cell, column) =>
        column === headerColumn ? (
          <th key={column} scope="row">
            <Signed text={cell} />
          </th>
        ) : (
          <td key={column}>
            <Signed text={cell} />
          </td>
        ),
      )}
    </tr>
  );
}

interface PagerProps {
  readonly found: number;
  readonly all: number;
  readonly size: number;
  readonly at: number;
  readonly pages: number;
  readonly onTurn: (page: number) => void;
}

function Pager({ found, all, size, at, pages, onTurn }: PagerProps) {
  if (all <= size) return null;
  const words =
    found === 0 ? 'No matching rows' : `${at * size + 1}–${Math.min((at + 1) * size, found)} of ${found}`;
  return (
    <div class="pager">
      <button type="button" class="button" disabled={at === 0} onClick={() => onTurn(at - 1)}>
        ‹ Previous
      </button>
      <span role="status">{words}</span>
      <button type="button" class="button" disabled={at >= pages - 1} onClick={() => onTurn(at + 1)}>
        Next ›
      </button>
    </div>
  );
}
