/* library.h - what the run-time library does: errors as objects, ports, the system.
 */
#ifndef SCHEME_LIBRARY_H
#define SCHEME_LIBRARY_H

/* ---- Errors as objects ------------------------------------------------------------------------------ */

V sch_make_error(V kind, V message, V irritants);
bool sch_error_object_p(V v);
V sch_error_object_message(V *sp, V v);
V sch_error_object_irritants(V *sp, V v);
bool sch_file_error_p(V v);
bool sch_read_error_p(V v);
void sch_uncaught(V *sp, V v);
void sch_handler_returned(V *sp, V v);
void sch_fail_type(V *sp, V who, V which, V what, V is);

/* ---- Ports -------------------------------------------------------------------------------------------- */

V sch_standard_port(V which);
bool sch_input_port_p(V v);
bool sch_output_port_p(V v);
bool sch_textual_port_p(V v);
bool sch_binary_port_p(V v);
bool sch_port_open_p(V *sp, V port, V input);
V sch_open_file(V *sp, V name, V mode);
V sch_open_input_string(V *sp, V text);
V sch_open_input_bytevector(V *sp, V bytes);
V sch_open_output(V binary);
V sch_get_output_string(V *sp, V port);
V sch_get_output_bytevector(V *sp, V port);
void sch_close_port(V *sp, V port, V which);
V sch_read_char(V *sp, V port);
V sch_peek_char(V *sp, V port);
bool sch_char_ready_p(V *sp, V port);
V sch_read_line(V *sp, V port);
V sch_read_string(V *sp, V k, V port);
V sch_read_u8(V *sp, V port);
V sch_peek_u8(V *sp, V port);
V sch_read_bytevector(V *sp, V k, V port);
V sch_read_bytevector_x(V *sp, V bytes, V port, V start, V end);
V sch_read(V *sp, V port);
void sch_write(V *sp, V v, V port, V how);
void sch_write_char(V *sp, V c, V port);
void sch_write_string(V *sp, V s, V port, V start, V end);
void sch_write_u8(V *sp, V byte, V port);
void sch_write_bytevector(V *sp, V bytes, V port, V start, V end);
void sch_newline(V *sp, V port);
void sch_flush(V *sp, V port);

/* ---- The system ------------------------------------------------------------------------------------------ */

bool sch_file_exists_p(V *sp, V name);
void sch_delete_file(V *sp, V name);
V sch_command_line(void);
void sch_exit(V code, V quick);
V sch_get_environment_variable(V *sp, V name);
V sch_get_environment_variables(void);
V sch_current_second(void);
V sch_current_jiffy(void);
V sch_jiffies_per_second(void);

/* ---- Pointers of C ------------------------------------------------------------------------------------- */

V sch_pointer(size_t address);
bool sch_c_pointer_p(V v);
V sch_c_null(void);
bool sch_c_null_p(V *sp, V v);
V sch_c_pointer_to_string(V *sp, V v);

#endif
