/* A C node for the tests: runs the commands of standard input with ei, one per line, and prints one line for each.
 *
 * ei has no functions for links and exit signals: their control messages are encoded here. */
#include <arpa/inet.h>
#include <ei.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct event {
    char text[1024];
    int has_sender;
    erlang_pid sender;
};

static ei_cnode node;
static int connection = -1;
/* The process of this node, and the sender of the last message that was printed. */
static erlang_pid self, partner;
static struct event events[16];
static int count;

static void fail(const char *what) {
    fprintf(stderr, "c node: %s: erl_errno %d\n", what, erl_errno);
    exit(1);
}

static void say(const char *line) {
    puts(line);
    fflush(stdout);
}

/* Appends a term, in Erlang's syntax without spaces. */
static void append(char *text, const char *buffer, int *index) {
    char *printed = malloc(BUFSIZ), *from;
    printed[0] = 0;
    if (ei_s_print_term(&printed, buffer, index) < 0) fail("print");
    text += strlen(text);
    for (from = printed; *from; from++)
        if (*from != ' ') *text++ = *from;
    *text = 0;
    free(printed);
}

/* Sends {Op, From, To} or {Op, From, To, Reason}. */
static void control(int op, const char *reason) {
    ei_x_buff x;
    uint32_t length;
    ei_x_new(&x);
    ei_x_append_buf(&x, "\0\0\0\0p", 5);
    ei_x_encode_version(&x);
    ei_x_encode_tuple_header(&x, reason ? 4 : 3);
    ei_x_encode_long(&x, op);
    ei_x_encode_pid(&x, &self);
    ei_x_encode_pid(&x, &partner);
    if (reason) ei_x_encode_atom(&x, reason);
    length = htonl(x.index - 4);
    memcpy(x.buff, &length, 4);
    if (write(connection, x.buff, x.index) != x.index) fail("write");
    ei_x_free(&x);
}

/* Answers {'$gen_call', {From, Tag}, Request} with {Tag, Request}; the index is behind the atom. */
static void answer(struct event *event, ei_x_buff *message, int index) {
    int arity, tag, request, end;
    erlang_pid from;
    ei_x_buff reply;
    if (ei_decode_tuple_header(message->buff, &index, &arity) || ei_decode_pid(message->buff, &index, &from))
        fail("call");
    tag = request = index;
    if (ei_skip_term(message->buff, &request)) fail("tag");
    end = request;
    strcpy(event->text, "call ");
    append(event->text, message->buff, &end);
    ei_x_new_with_version(&reply);
    ei_x_encode_tuple_header(&reply, 2);
    ei_x_append_buf(&reply, message->buff + tag, end - tag);
    if (ei_send(connection, &from, reply.buff, reply.index)) fail("reply");
    ei_x_free(&reply);
}

static void read_message(struct event *event, ei_x_buff *message) {
    int index = 0, inner, version, arity = 0;
    char atom[MAXATOMLEN_UTF8];
    if (ei_decode_version(message->buff, &index, &version)) fail("message");
    inner = index;
    if (ei_decode_tuple_header(message->buff, &inner, &arity)) arity = 0;
    if (arity == 2 && !ei_decode_pid(message->buff, &inner, &event->sender)) {
        event->has_sender = 1;
        append(event->text, message->buff, &inner);
    } else if (arity == 3 && !ei_decode_atom(message->buff, &inner, atom) && !strcmp(atom, "$gen_call")) {
        answer(event, message, inner);
    } else {
        append(event->text, message->buff, &index);
    }
}

/* Reads one frame. Messages and exit signals become events; ei answers ticks and unlinks. */
static void read_frame(void) {
    ei_x_buff x;
    erlang_msg message;
    struct event *event = &events[count];
    int index = 0, got;
    ei_x_new(&x);
    got = ei_xreceive_msg(connection, &message, &x);
    if (got == ERL_ERROR) fail("receive");
    if (got == ERL_MSG) {
        memset(event, 0, sizeof *event);
        switch (message.msgtype) {
        case ERL_SEND:
        case ERL_REG_SEND:
            read_message(event, &x);
            count++;
            break;
        case ERL_EXIT:
        case ERL_EXIT2:
            strcpy(event->text, "exit ");
            append(event->text, x.buff, &index);
            count++;
            break;
        }
    }
    if (count == sizeof events / sizeof *events) fail("too many events");
    ei_x_free(&x);
}

static void next_event(void) {
    while (!count) read_frame();
    if (events[0].has_sender) partner = events[0].sender;
    say(events[0].text);
    memmove(events, events + 1, --count * sizeof *events);
}

/* Listens, is found by its name, and accepts one connection. */
static void accept_one(void) {
    int port = 0, listener = ei_listen(&node, &port, 1);
    ErlConnect peer;
    if (listener < 0) fail("listen");
    int epmd = ei_publish(&node, port);
    if (epmd < 0) fail("publish");
    say("listening");
    if ((connection = ei_accept(&node, listener, &peer)) < 0) fail("accept");
    close(listener);
}

/* Makes the call of net_adm:ping/1, whose answer is the event "yes". */
static void ping(void) {
    ei_x_buff x;
    erlang_ref tag;
    if (ei_make_ref(&node, &tag)) fail("reference");
    ei_x_new_with_version(&x);
    ei_x_encode_tuple_header(&x, 3);
    ei_x_encode_atom(&x, "$gen_call");
    ei_x_encode_tuple_header(&x, 2);
    ei_x_encode_pid(&x, &self);
    ei_x_encode_ref(&x, &tag);
    ei_x_encode_tuple_header(&x, 2);
    ei_x_encode_atom(&x, "is_auth");
    ei_x_encode_atom(&x, ei_thisnodename(&node));
    if (ei_reg_send(&node, connection, "net_kernel", x.buff, x.index)) fail("ping");
    ei_x_free(&x);
}

int main(int argc, char **argv) {
    static char line[1024], word[256], other[256];
    long number;
    ei_x_buff x;
    struct pollfd polled[2] = {{.fd = 0, .events = POLLIN}, {.events = POLLIN}};
    if (argc != 3) return 2;
    /* WHY: poll sees nothing that stdio has read ahead. */
    setvbuf(stdin, NULL, _IONBF, 0);
    struct in_addr local = {htonl(INADDR_LOOPBACK)};
    char name[256];
    snprintf(name, sizeof name, "%s@127.0.0.1", argv[1]);
    ei_init();
    if (ei_connect_xinit(&node, "127.0.0.1", argv[1], name, &local, argv[2], getpid())) fail("init");
    if (ei_make_pid(&node, &self)) fail("pid");
    say("ready");
    for (;;) {
        polled[1].fd = connection;
        if (poll(polled, 2, -1) < 0) fail("poll");
        if (polled[1].revents) read_frame();
        if (!polled[0].revents) continue;
        if (!fgets(line, sizeof line, stdin)) return 0;
        if (sscanf(line, "connect %255s", word) == 1) {
            if ((connection = ei_connect(&node, word)) < 0) fail("connect");
            say("ok");
        } else if (!strcmp(line, "accept\n")) {
            accept_one();
            say("ok");
        } else if (!strcmp(line, "ping\n")) {
            ping();
            while (!count) read_frame();
            say(strstr(events[--count].text, ",yes}") ? "pong" : "pang");
        } else if (sscanf(line, "send %255s", word) == 1) {
            ei_x_new_with_version(&x);
            ei_x_encode_tuple_header(&x, 2);
            ei_x_encode_pid(&x, &self);
            ei_x_encode_atom(&x, "hello");
            if (ei_reg_send(&node, connection, word, x.buff, x.index)) fail("send");
            ei_x_free(&x);
            say("ok");
        } else if (sscanf(line, "answer %255s", word) == 1) {
            ei_x_new_with_version(&x);
            ei_x_encode_atom(&x, word);
            if (ei_send(connection, &partner, x.buff, x.index)) fail("answer");
            ei_x_free(&x);
            say("ok");
        } else if (!strcmp(line, "receive\n")) {
            next_event();
        } else if (sscanf(line, "rpc %255s %255s %ld", word, other, &number) == 3) {
            ei_x_buff result;
            char text[1024] = "";
            int index = 0;
            ei_x_new(&x);
            ei_x_new(&result);
            ei_x_encode_list_header(&x, 1);
            ei_x_encode_long(&x, number);
            ei_x_encode_empty_list(&x);
            if (ei_rpc(&node, connection, word, other, x.buff, x.index, &result) < 0) fail("rpc");
            append(text, result.buff, &index);
            ei_x_free(&x);
            ei_x_free(&result);
            say(text);
        } else if (!strcmp(line, "link\n")) {
            control(ERL_LINK, NULL);
            say("ok");
        } else if (!strcmp(line, "unlink\n")) {
            control(ERL_UNLINK, NULL);
            say("ok");
        } else if (sscanf(line, "exit %255s", word) == 1) {
            control(ERL_EXIT2, word);
            say("ok");
        } else if (sscanf(line, "end %255s", word) == 1) {
            /* The process ends, and the node continues with another one. */
            control(ERL_EXIT, word);
            if (ei_make_pid(&node, &self)) fail("pid");
            say("ok");
        } else {
            fail(line);
        }
    }
}
