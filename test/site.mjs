// Judges the built site: node test/site.mjs FOLDER [CHROMIUM]
// Of the files: every link leads to something that is there, headings too, and nothing is asked of another host. In a browser, if one is named: every page at two
// widths says nothing on its console, fetches nothing from elsewhere and is no wider than its window, and the search finds something.
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'

const [folder, chromium] = process.argv.slice(2)
const waitMs = 20000
const widths = [1280, 375]
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.png': 'image/png', '.svg': 'image/svg+xml' }

const files = fs.readdirSync(folder, { recursive: true }).map(String).filter(name => fs.statSync(path.join(folder, name)).isFile())
const pages = files.filter(name => name.endsWith('.html'))
const text = name => fs.readFileSync(path.join(folder, name), 'utf8')

function wrongLinks() {
  const ids = new Map(pages.map(page => [page, new Set([...text(page).matchAll(/ id="([^"]*)"/g)].map(match => match[1]))]))
  const wrong = []
  for (const page of pages) {
    for (const [, link] of text(page).matchAll(/<[^>]* (?:href|src|srcset|poster|action|data)="([^"]*)"/g)) {
      if (link.startsWith('data:')) continue
      const url = new URL(link.replaceAll('&amp;', '&'), `http://here/${page}`)
      const target = decodeURIComponent(url.pathname.slice(1)) || 'index.html'
      const id = decodeURIComponent(url.hash.slice(1))
      if (url.host !== 'here') wrong.push(`${page}: ${link} is another host`)
      else if (!files.includes(target)) wrong.push(`${page}: ${link} leads nowhere`)
      else if (id && ids.has(target) && !ids.get(target).has(id)) wrong.push(`${page}: ${link} is no heading there`)
    }
  }
  for (const sheet of files.filter(name => /\.(css|html)$/.test(name))) {
    for (const [found] of text(sheet).matchAll(/(?:url\(["']?|@import ["']?)(?:https?:)?\/\/[^)"']*/g)) wrong.push(`${sheet}: ${found} is another host`)
  }
  return wrong
}

function serve() {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://here').pathname.slice(1)) || 'index.html'
    const found = files.includes(name)
    response.writeHead(found ? 200 : 404, { 'content-type': types[path.extname(name)] ?? 'application/octet-stream' })
    response.end(found ? fs.readFileSync(path.join(folder, name)) : '')
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))
}

// The browser's own protocol over two pipes: messages that end with a zero.
function browse(profile) {
  // No sandbox: a browser of root's has none, and it sees our own pages only.
  const options = ['--headless', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', `--user-data-dir=${profile}`]
  const child = spawn(chromium, [...options, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
  const asked = new Map()
  const browser = { child, heard: () => {} }
  let last = 0, rest = ''
  child.stdio[3].on('error', () => {}) // that it ended is told by itself
  child.stdio[4].setEncoding('utf8').on('data', part => {
    const messages = (rest + part).split('\0')
    rest = messages.pop()
    for (const message of messages.map(JSON.parse)) {
      const { resolve, reject } = asked.get(message.id) ?? {}
      if (!resolve) browser.heard(message)
      else if (message.error) reject(new Error(message.error.message))
      else resolve(message.result)
    }
  })
  browser.ask = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    asked.set(++last, { resolve, reject })
    child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`)
  })
  return browser
}

// What a page says of itself once `condition` holds there, looked at with every frame.
const when = (condition, answer) => `new Promise((resolve, reject) => {
  const end = Date.now() + ${waitMs}
  const look = () => (${condition}) ? resolve(${answer}) : Date.now() > end ? reject(new Error(${JSON.stringify(condition)})) : setTimeout(look, 10)
  look()
})`

async function look(browser, home) {
  const { targetId } = await browser.ask('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await browser.ask('Target.attachToTarget', { targetId, flatten: true })
  const ask = (method, params) => browser.ask(method, params, sessionId)
  const wrong = []
  let at = ''
  browser.heard = ({ method, params }) => {
    if (method === 'Runtime.exceptionThrown') wrong.push(`${at}: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`)
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) wrong.push(`${at}: ${params.args.map(arg => arg.value).join(' ')}`)
    if (method === 'Log.entryAdded' && params.entry.level === 'error') wrong.push(`${at}: ${params.entry.text} ${params.entry.url ?? ''}`)
    if (method === 'Network.requestWillBeSent' && !params.request.url.startsWith(home) && !params.request.url.startsWith('data:')) wrong.push(`${at}: asks for ${params.request.url}`)
  }
  for (const room of ['Page', 'Runtime', 'Log', 'Network']) await ask(`${room}.enable`)
  const evaluate = async expression => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails) throw new Error(`${at}: ${exceptionDetails.exception?.description}`)
    return result.value
  }
  const resize = width => ask('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile: false })
  for (const page of pages.filter(name => name !== '404.html')) {
    at = page
    await ask('Page.navigate', { url: `${home}${page}` })
    const isThere = when(`location.href.endsWith(${JSON.stringify(page)}) && document.querySelector('#app')?.__vue_app__ && document.querySelector('h1')`, 'true')
    await evaluate(isThere)
    for (const width of widths) {
      await resize(width)
      const wide = await evaluate('document.documentElement.scrollWidth')
      if (wide > width) wrong.push(`${page} at ${width}: ${wide} wide`)
    }
  }
  for (const width of widths) {
    at = `the search at ${width}`
    await resize(width)
    await ask('Page.navigate', { url: home })
    await evaluate(when("location.pathname === '/' && document.querySelector('#app')?.__vue_app__ && document.querySelector('.VPNavBarSearch button')", "document.querySelector('.VPNavBarSearch button').click()"))
    await evaluate(when("document.activeElement?.matches('.VPLocalSearchBox input')", 'true'))
    await ask('Input.insertText', { text: 'maxmemory' })
    const found = await evaluate(when("document.querySelector('.VPLocalSearchBox a.result')", "[...document.querySelectorAll('.VPLocalSearchBox a.result')].map(link => link.getAttribute('href'))"))
    if (!found.some(link => link.startsWith('/reference/settings'))) wrong.push(`${at}: finds ${found}`)
  }
  return wrong
}

async function inBrowser() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'garnet-site-'))
  const server = await serve()
  const browser = browse(profile)
  const ended = new Promise(resolve => browser.child.on('exit', resolve).on('error', resolve))
  const wrong = await Promise.race([
    look(browser, `http://127.0.0.1:${server.address().port}/`).catch(error => [error.message]),
    ended.then(why => [`the browser ended: ${why}`]),
  ])
  // Asked to, as it leaves its folder alone only when all of its processes have ended.
  browser.ask('Browser.close').catch(() => {})
  await ended
  server.close()
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  return wrong
}

const wrong = wrongLinks()
if (wrong.length === 0 && chromium) wrong.push(...await inBrowser())
for (const what of new Set(wrong)) console.log(`site: ${what}`)
process.exit(wrong.length > 0 ? 1 : 0)
